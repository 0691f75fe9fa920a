#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ddpkit {

/// What a measured figure says about a run.
enum class Judgement {
  good,
  look,  ///< not wrong, but worth a look
  bad,
  open,  ///< could not be judged; the sentence says why
};

/// One dimension of a run: what was measured, what was wanted, and what to change.
struct Finding {
  std::string dimension{};
  Judgement judgement = Judgement::open;
  std::string figure{};     ///< "94 %"; "-" where nothing was measured
  std::string threshold{};  ///< "at least 90 %"
  std::string sentence{};   ///< what was found
  std::string advice{};     ///< what to change; empty where nothing is to be
};

/// "good", "look", "bad" or "not judged".
std::string_view word_for(Judgement judgement);

}  // namespace ddpkit
