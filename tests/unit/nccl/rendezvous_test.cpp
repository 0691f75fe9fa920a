#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "comm/nccl/file_rendezvous.hpp"
#include "comm/nccl/tcp_rendezvous.hpp"
#include "comm/nccl/wire.hpp"
#include "support/catch.hpp"
#include "support/nccl_world.hpp"
#include "support/temporary_folder.hpp"

using namespace ddpkit;
using namespace ddpkit::testing;
using namespace ddpkit::nccl;
using std::chrono::milliseconds;

namespace {

using Texts = std::vector<std::string>;

std::string greeting_of(int rank) {
  return "text of rank " + std::to_string(rank);
}

Texts greetings(int ranks) {
  Texts all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(greeting_of(rank));
  return all;
}

/// Runs each function on a thread; what each threw.
std::vector<std::exception_ptr> together(const std::vector<std::function<void()>>& parts) {
  std::vector<std::exception_ptr> errors(parts.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < parts.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        parts[i]();
      } catch (...) {
        errors[i] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// Rank 0 on a free port of this machine, and rendezvous for its guests.
struct TcpHost {
  explicit TcpHost(int ranks, milliseconds limit = milliseconds(30000))
      : world_size(ranks),
        timeout(limit),
        rendezvous({.address = {"127.0.0.1", "0"}, .rank = 0, .world_size = ranks, .timeout = limit}) {}

  Address address() const { return {"127.0.0.1", std::to_string(rendezvous.port())}; }

  std::function<void()> host(Texts* texts = nullptr) {
    return [this, texts] {
      const Texts got = rendezvous.meet(greeting_of(0));
      if (texts != nullptr) *texts = got;
    };
  }

  std::function<void()> guest(int rank, Texts* texts = nullptr, int expected_world = 0) {
    return [this, rank, texts, expected_world] {
      TcpRendezvous mine({.address = address(),
                          .rank = rank,
                          .world_size = expected_world > 0 ? expected_world : world_size,
                          .timeout = timeout});
      const Texts got = mine.meet(greeting_of(rank));
      if (texts != nullptr) *texts = got;
    };
  }

  Socket call() const { return Socket::connect(address(), Patience(milliseconds(2000))); }

  int world_size;
  milliseconds timeout;
  TcpRendezvous rendezvous;
};

FileRendezvous::Options in_folder(const TemporaryFolder& folder, int rank, int ranks,
                                  milliseconds timeout = milliseconds(30000)) {
  return {.folder = folder.path(), .job = "job 7", .rank = rank, .world_size = ranks, .timeout = timeout};
}

}  // namespace

TEST_CASE("ranks that meet by TCP all get every text, in rank order") {
  for (const int ranks : {1, 2, 5}) {
    TcpHost host(ranks);
    std::vector<Texts> texts(static_cast<std::size_t>(ranks));
    std::vector<std::function<void()>> parts{host.host(&texts[0])};
    for (int rank = 1; rank < ranks; ++rank) parts.push_back(host.guest(rank, &texts[static_cast<std::size_t>(rank)]));
    for (const auto& error : together(parts)) CHECK(message_of(error) == "");
    for (const Texts& got : texts) CHECK(got == greetings(ranks));
  }
}

TEST_CASE("texts with zeros and line ends, and empty ones, arrive by TCP as they were") {
  TcpHost host(2);
  const std::string odd("\0\n\xff mid", 7);
  Texts got;
  const auto errors = together(
      {[&] { got = host.rendezvous.meet(odd); },
       [&] { TcpRendezvous({.address = host.address(), .rank = 1, .world_size = 2, .timeout = host.timeout}).meet(""); }});
  for (const auto& error : errors) CHECK(message_of(error) == "");
  CHECK(got == Texts{odd, ""});
}

TEST_CASE("the ranks that did not come by TCP are named to those that did") {
  TcpHost host(4, milliseconds(80));
  const auto errors = together({host.host(), host.guest(2)});
  for (const auto& error : errors) {
    CHECK_THAT(message_of(error), Catch::Contains("ranks 1, 3 of 4 did not come within 80 ms"));
    CHECK(status_of_throw([&] { std::rethrow_exception(error); }) == ExitStatus::timeout);
  }
}

TEST_CASE("a guest whose host never comes says so") {
  TcpRendezvous guest({.address = {"127.0.0.1", "1"}, .rank = 1, .world_size = 2, .timeout = milliseconds(30)});
  CHECK_THAT(message_of_throw([&] { guest.meet(""); }), Catch::Contains("rank 0 was not there within 30 ms"));
}

TEST_CASE("strangers do not keep the ranks from meeting by TCP") {
  TcpHost host(2);
  Socket silent;
  Socket babbler;
  Socket cut_off;
  Texts got;
  const auto errors = together({host.host(&got), [&] {
                                  const Patience patience(milliseconds(2000));
                                  silent = host.call();
                                  babbler = host.call();
                                  babbler.send("GET / HTTP/1.1\r\n\r\n", patience);
                                  cut_off = host.call();
                                  const std::string whole = encode(Greeting{.rank = 1, .world_size = 2, .text = "half"});
                                  cut_off.send(std::string_view(whole).substr(0, whole.size() / 2), patience);
                                  cut_off = Socket();
                                  host.guest(1)();
                                }});
  for (const auto& error : errors) CHECK(message_of(error) == "");
  CHECK(got == greetings(2));
}

TEST_CASE("a greeting that arrives byte by byte is a greeting") {
  TcpHost host(2);
  Texts got;
  const auto errors = together({host.host(&got), [&] {
                                  const Patience patience(milliseconds(2000));
                                  Socket slow = host.call();
                                  for (const char byte : encode(Greeting{.rank = 1, .world_size = 2, .text = greeting_of(1)}))
                                    slow.send(std::string_view(&byte, 1), patience);
                                  std::string answer;
                                  while (slow.receive(answer) != Socket::Got::end) slow.wait_readable(patience);
                                }});
  CHECK(message_of(errors[0]).empty());
  CHECK(got == greetings(2));
}

TEST_CASE("a guest that expects another world size is refused with both numbers") {
  TcpHost host(2, milliseconds(300));
  const auto errors = together({host.host(), host.guest(1, nullptr, 3)});
  CHECK_THAT(message_of(errors[1]), Catch::Contains("rank 1 expects 3 ranks, rank 0 expects 2"));
  CHECK(status_of_throw([&] { std::rethrow_exception(errors[1]); }) == ExitStatus::disagree);
  CHECK_THAT(message_of(errors[0]), Catch::Contains("rank 1 of 2 did not come"));
}

TEST_CASE("of two guests with one rank the later is refused") {
  TcpHost host(3, milliseconds(300));
  const auto errors = together({host.host(), host.guest(1), host.guest(1)});
  const std::string both = message_of(errors[1]) + message_of(errors[2]);
  CHECK_THAT(both, Catch::Contains("do two processes have the same rank?"));
}

TEST_CASE("something else that answers at the address is told from rank 0") {
  const Socket listener = Socket::listen({"127.0.0.1", "0"});
  TcpRendezvous guest(
      {.address = {"127.0.0.1", std::to_string(listener.port())}, .rank = 1, .world_size = 2, .timeout = milliseconds(2000)});
  std::thread other([&] {
    const Patience patience(milliseconds(2000));
    Socket connection;
    while (!connection.valid()) {
      listener.wait_readable(patience);
      connection = listener.accept();
    }
    connection.send("SSH-2.0-OpenSSH_9.2\r\n", patience);
  });
  CHECK_THAT(message_of_throw([&] { guest.meet(""); }), Catch::Contains("not rank 0"));
  other.join();
}

TEST_CASE("an address is a host and a port") {
  CHECK(parse_address("node1:29500").host == "node1");
  CHECK(parse_address("node1:29500").port == "29500");
  CHECK(parse_address("[::1]:80").host == "::1");
  for (const char* wrong : {"", "node1", "node1:", ":29500", "node1:port", "node1:65536", "node1:-1", "node1:29500x"})
    CHECK_THROWS_AS(parse_address(wrong), ConfigError);
}

TEST_CASE("a message cut off anywhere is not yet one") {
  const std::string greeting = encode(Greeting{.rank = 3, .world_size = 8, .text = "abc"});
  const std::string answer = encode(Answer{.refusal = "", .texts = {"one", "", "three"}});
  Greeting parsed;
  Answer parsed_answer;
  for (std::size_t size = 0; size < greeting.size(); ++size)
    CHECK(decode(greeting.substr(0, size), parsed) == Decoded::more_to_come);
  for (std::size_t size = 0; size < answer.size(); ++size)
    CHECK(decode(answer.substr(0, size), parsed_answer) == Decoded::more_to_come);
  CHECK(decode(greeting, parsed) == Decoded::message);
  CHECK((parsed.rank == 3 && parsed.world_size == 8 && parsed.text == "abc"));
  CHECK(decode(answer, parsed_answer) == Decoded::message);
  CHECK(parsed_answer.texts == Texts{"one", "", "three"});
}

TEST_CASE("a message that claims impossible sizes is garbage") {
  std::string greeting = encode(Greeting{.rank = 3, .world_size = 8, .text = "abc"});
  greeting[greeting.size() - 7] = '\x7f';  // the first byte of the text's size
  Greeting parsed;
  CHECK(decode(greeting, parsed) == Decoded::garbage);
  CHECK(decode("nonsense", parsed) == Decoded::garbage);
}

TEST_CASE("ranks that meet in a folder all get every text, and leave nothing behind") {
  const TemporaryFolder folder;
  std::vector<Texts> texts(3);
  {
    std::vector<std::unique_ptr<FileRendezvous>> ranks;
    std::vector<std::function<void()>> parts;
    for (int rank = 0; rank < 3; ++rank) {
      ranks.push_back(std::make_unique<FileRendezvous>(in_folder(folder, rank, 3)));
      parts.push_back([&, rank] {
        texts[static_cast<std::size_t>(rank)] = ranks[static_cast<std::size_t>(rank)]->meet(greeting_of(rank));
      });
    }
    for (const auto& error : together(parts)) CHECK(message_of(error) == "");
  }
  for (const Texts& got : texts) CHECK(got == greetings(3));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the ranks that did not come to the folder are named") {
  const TemporaryFolder folder;
  FileRendezvous alone(in_folder(folder, 1, 4, milliseconds(30)));
  const std::string message = message_of_throw([&] { alone.meet("x"); });
  CHECK_THAT(message, Catch::Contains("ranks 0, 2, 3 of 4 did not come within 30 ms"));
}

TEST_CASE("files of an earlier job are not taken for this one's") {
  const TemporaryFolder folder;
  write_file(folder / "ddpkit-rank-0-of-2", "job 6\nold");
  FileRendezvous second(in_folder(folder, 1, 2, milliseconds(30)));
  CHECK_THAT(message_of_throw([&] { second.meet("x"); }), Catch::Contains("rank 0 of 2 are of another job than 'job 7'"));

  FileRendezvous first(in_folder(folder, 0, 2));
  FileRendezvous again(in_folder(folder, 1, 2));
  const auto errors = together({[&] { first.meet("new"); }, [&] { CHECK(again.meet("x") == Texts{"new", "x"}); }});
  for (const auto& error : errors) CHECK(message_of(error) == "");
}

TEST_CASE("a folder that cannot be written is a storage error") {
  const TemporaryFolder folder;
  FileRendezvous nowhere({.folder = folder / "missing", .job = "j", .rank = 0, .world_size = 1, .timeout = milliseconds(30)});
  CHECK_THROWS_AS(nowhere.meet("x"), StorageError);
}
