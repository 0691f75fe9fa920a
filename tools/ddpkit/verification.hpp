#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ddpkit/batch/verify_rules.hpp"
#include "verify_request.hpp"

namespace ddpkit::tool {

/// All that a verification has measured, and what it says.
struct Verification {
  VerifyRequest request{};
  std::string run_name{};
  std::string time{};  ///< when it ended: "2026-11-30 18:40 UTC"
  std::int64_t global = 0;
  std::vector<ProbeFigures> probes{};
  std::vector<nlohmann::json> probe_documents{};  ///< as the program printed them
  std::vector<LossCurve> curves{};
  std::vector<Finding> findings{};  ///< in the order in which they are shown
  std::vector<std::string> commands{};

  bool passed() const noexcept;  ///< nothing is bad
};

/// One JSON document with findings, figures and curves.
std::string verification_json(const Verification& verification);

/// A self-contained HTML page with pictures, of at most 300 KB for up to 20 numbers of ranks.
std::string verification_page(const Verification& verification);

/// A table and a sentence for each finding, for a terminal.
std::string verification_text(const Verification& verification);

}  // namespace ddpkit::tool
