#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ddpkit/comm/communicator.hpp"

// Rare decisions that change the sequence of collectives. Every function here is collective and synchronous, all ranks call it
// together, and the answer is the same everywhere. What is agreed at step rate is a slot of the Ballot instead.

namespace ddpkit {

/// Whether any rank says yes.
bool agree_any(Communicator& comm, bool mine, std::string_view tag = "agree_any");

/// Whether every rank says yes.
bool agree_all(Communicator& comm, bool mine, std::string_view tag = "agree_all");

/// The smallest and the largest value over the ranks.
std::int64_t agree_min(Communicator& comm, std::int64_t mine, std::string_view tag = "agree_min");
std::int64_t agree_max(Communicator& comm, std::int64_t mine, std::string_view tag = "agree_max");

/// Rank `root`'s text on every rank, of any length.
std::string broadcast_text(Communicator& comm, std::string_view mine, int root = 0);

/// Every rank's text, in rank order, of any length.
std::vector<std::string> gather_texts(Communicator& comm, std::string_view mine);

/// One fact that must not differ between ranks.
struct Fact {
  std::string name;   ///< "parameter fc1.weight", "batch.global"
  std::string value;  ///< "float32 [256, 784]", "512"
};

/// Compares ordered facts of all ranks by digest, and by value where digests differ. Throws CommError (ExitStatus::disagree) on
/// every rank, naming the first facts that differ, with the values and the ranks that hold them.
void require_equal(Communicator& comm, std::string_view subject, std::span<const Fact> facts);

/// Makes a failure on any rank a failure on all: runs `body`; when it throws on some ranks, those rethrow their own error and
/// the others throw CommError with the status of, and a text naming, the lowest rank that failed. All of them are
/// marked as on_all_ranks; what is no Error becomes one.
template <class Body>
void all_or_none(Communicator& comm, std::string_view what, Body&& body);

namespace detail {
void share_outcome(Communicator& comm, std::string_view what, const Error* mine);
}

template <class Body>
void all_or_none(Communicator& comm, std::string_view what, Body&& body) {
  try {
    body();
  } catch (Error& error) {
    detail::share_outcome(comm, what, &error);
    error.mark_on_all_ranks();
    throw;
  } catch (const std::exception& other) {
    const Error error(other.what());
    detail::share_outcome(comm, what, &error);
    throw on_all_ranks(error);
  }
  detail::share_outcome(comm, what, nullptr);
}

}  // namespace ddpkit
