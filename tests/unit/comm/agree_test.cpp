#include "ddpkit/comm/agree.hpp"

#include <stdexcept>

#include "ddpkit/testing/logged_communicator.hpp"
#include "ddpkit/testing/op_log.hpp"
#include "ddpkit/testing/thread_world.hpp"
#include "support/catch.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;

namespace {

// What every rank caught, in rank order; empty where nothing was thrown.
struct Caught {
  std::string message;
  ExitStatus status = ExitStatus::ok;
  bool on_all_ranks = false;
};

template <class Body>
std::vector<Caught> errors_of_ranks(int ranks, Body body) {
  std::vector<Caught> caught(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& comm) {
    try {
      body(comm);
    } catch (const Error& error) {
      caught[static_cast<std::size_t>(comm.rank())] = {error.what(), error.status(), error.on_all_ranks()};
    } catch (const std::exception& error) {
      caught[static_cast<std::size_t>(comm.rank())] = {error.what()};
    }
  });
  return caught;
}

std::vector<Fact> model_facts(const std::string& fc1) {
  return {
      {"parameter fc0.weight", "float32 [784, 256]"}, {"parameter fc1.weight", fc1}, {"parameter fc1.bias", "float32 [10]"}};
}

}  // namespace

TEST_CASE("any, all, least and greatest are the same on every rank") {
  const int ranks = GENERATE(1, 2, 3, 4);
  std::vector<int> right(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& comm) {
    const bool last = comm.rank() == ranks - 1;
    right[static_cast<std::size_t>(comm.rank())] = agree_any(comm, last) && !agree_any(comm, false) && agree_all(comm, true) &&
                                                   agree_all(comm, !last) == false && agree_min(comm, comm.rank() - 5) == -5 &&
                                                   agree_max(comm, comm.rank()) == ranks - 1;
  });
  CHECK(right == std::vector<int>(static_cast<std::size_t>(ranks), 1));
}

TEST_CASE("texts of any length travel, empty ones and zero bytes too") {
  const int ranks = GENERATE(1, 3, 4);
  std::vector<std::vector<std::string>> gathered(static_cast<std::size_t>(ranks));
  std::vector<std::string> received(static_cast<std::size_t>(ranks));
  const auto text_of = [](int rank) { return std::string(static_cast<std::size_t>(rank * 1000), 'a') + std::string(1, '\0'); };
  run_ranks(ranks, [&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    gathered[rank] = gather_texts(comm, comm.rank() == 1 ? "" : text_of(comm.rank()));
    received[rank] = broadcast_text(comm, text_of(comm.rank()), ranks - 1);
  });
  for (int rank = 0; rank < ranks; ++rank) {
    CHECK(received[static_cast<std::size_t>(rank)] == text_of(ranks - 1));
    for (int other = 0; other < ranks; ++other)
      CHECK(gathered[static_cast<std::size_t>(rank)][static_cast<std::size_t>(other)] == (other == 1 ? "" : text_of(other)));
  }
}

TEST_CASE("equal facts cost one small collective") {
  std::vector<OpLog> logs(3);
  run_ranks(3, [&](Communicator& comm) {
    LoggedCommunicator logged(comm, logs[static_cast<std::size_t>(comm.rank())]);
    require_equal(logged, "the model", model_facts("float32 [256, 784]"));
  });
  for (const OpLog& log : logs) {
    REQUIRE(log.records().size() == 1);
    CHECK(log.records()[0].count == 1);
  }
}

TEST_CASE("different facts are refused on every rank, naming value and ranks") {
  const auto caught = errors_of_ranks(4, [](Communicator& comm) {
    require_equal(comm, "the model", model_facts(comm.rank() == 2 ? "float32 [128, 784]" : "float32 [256, 784]"));
  });
  for (const Caught& error : caught) {
    CHECK(error.message ==
          "ranks disagree on the model: parameter fc1.weight is \"float32 [256, 784]\" on ranks 0, 1, 3 and "
          "\"float32 [128, 784]\" on rank 2");
    CHECK(error.status == ExitStatus::disagree);
    CHECK(error.on_all_ranks);
  }
}

TEST_CASE("a fact that some ranks lack is named") {
  const auto caught = errors_of_ranks(2, [](Communicator& comm) {
    auto facts = model_facts("float32 [256, 784]");
    if (comm.rank() == 1) facts.push_back({"parameter extra", "float32 [3]"});
    require_equal(comm, "the model", facts);
  });
  CHECK(caught[0].message == "ranks disagree on the model: parameter extra is missing on rank 0 and \"float32 [3]\" on rank 1");
  CHECK(caught[1].message == caught[0].message);
}

TEST_CASE("equal facts in another order are refused by place") {
  const auto caught = errors_of_ranks(3, [](Communicator& comm) {
    std::vector<Fact> facts = {{"a", "1"}, {"b", "2"}};
    if (comm.rank() == 1) std::swap(facts[0], facts[1]);
    require_equal(comm, "the order", facts);
  });
  CHECK(caught[2].message == "ranks disagree on the order: number 1 in order is \"a\" on ranks 0, 2 and \"b\" on rank 1");
}

TEST_CASE("only the first differences are spelled out") {
  const auto caught = errors_of_ranks(2, [](Communicator& comm) {
    std::vector<Fact> facts;
    for (int i = 0; i < 5; ++i) facts.push_back({"k" + std::to_string(i), std::to_string(i * comm.rank())});
    require_equal(comm, "settings", facts);
  });
  CHECK(caught[0].message ==
        "ranks disagree on settings: k1 is \"0\" on rank 0 and \"1\" on rank 1; k2 is \"0\" on rank 0 and \"2\" on rank 1; "
        "k3 is \"0\" on rank 0 and \"3\" on rank 1; and 1 more");
}

TEST_CASE("a failure on one rank fails all, with its status and reason") {
  const auto caught = errors_of_ranks(3, [](Communicator& comm) {
    all_or_none(comm, "reading the data", [&] {
      if (comm.rank() == 1) throw DataError("train.idx is cut off");
    });
  });
  CHECK(caught[0].message == "reading the data failed on rank 1: train.idx is cut off");
  CHECK(caught[1].message == "train.idx is cut off");
  CHECK(caught[2].message == caught[0].message);
  for (const Caught& error : caught) CHECK((error.status == ExitStatus::data && error.on_all_ranks));
}

TEST_CASE("of several failures the others hear of the lowest rank's") {
  const auto caught = errors_of_ranks(4, [](Communicator& comm) {
    all_or_none(comm, "start", [&] {
      if (comm.rank() == 3) throw StorageError("disk is full");
      if (comm.rank() == 2) throw std::out_of_range("index 7");
    });
  });
  CHECK(caught[0].message == "start failed on rank 2: index 7");
  CHECK(caught[0].status == ExitStatus::internal);
  CHECK(caught[2].message == "index 7");
  CHECK(caught[3].message == "disk is full");
}

TEST_CASE("all_or_none lets success pass and goes on afterwards") {
  const auto caught = errors_of_ranks(2, [](Communicator& comm) {
    all_or_none(comm, "nothing", [] {});
    if (!agree_all(comm, true)) throw Error("no agreement");
  });
  CHECK(caught[0].message.empty());
}
