#include "comm/nccl/tcp_rendezvous.hpp"

#include <poll.h>

#include <algorithm>

#include "comm/nccl/patience.hpp"
#include "comm/nccl/wire.hpp"
#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::nccl {
namespace {

constexpr std::chrono::milliseconds kKnockAgain{20};
constexpr std::chrono::milliseconds kFarewell{1000};

std::string where(const Address& address) {
  return text("rendezvous at ", address.host, ":", address.port);
}

}  // namespace

/// What rank 0 does: receives guests until every rank is there.
class TcpRendezvous::Reception {
 public:
  Reception(const Options& options, const Socket& listener)
      : options_(options), listener_(listener), patience_(options.timeout) {}

  std::vector<std::string> receive_all(const std::string& mine) {
    while (!everybody_there()) {
      if (patience_.left().count() == 0) send_home();
      wait_for_news();
      for (Socket guest = listener_.accept(); guest.valid(); guest = listener_.accept()) guests_.emplace_back(std::move(guest));
      std::erase_if(guests_, [this](Guest& guest) { return !listen_to(guest); });
    }
    Answer answer{.texts = std::vector<std::string>(static_cast<std::size_t>(options_.world_size))};
    answer.texts[0] = mine;
    for (const Guest& guest : guests_)
      if (guest.known) answer.texts[static_cast<std::size_t>(guest.greeting.rank)] = guest.greeting.text;
    tell_known(answer);
    return answer.texts;
  }

 private:
  struct Guest {
    explicit Guest(Socket connection) : socket(std::move(connection)) {}
    Socket socket;
    std::string bytes;
    Greeting greeting;
    bool known = false;
  };

  bool everybody_there() const {
    return std::count_if(guests_.begin(), guests_.end(), [](const Guest& guest) { return guest.known; }) ==
           options_.world_size - 1;
  }

  void wait_for_news() const {
    std::vector<pollfd> entries{{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0}};
    for (const Guest& guest : guests_) entries.push_back({.fd = guest.socket.descriptor(), .events = POLLIN, .revents = 0});
    ::poll(entries.data(), entries.size(), static_cast<int>(patience_.left().count()));
  }

  // False when the guest is to go.
  bool listen_to(Guest& guest) {
    const Socket::Got got = guest.socket.receive(guest.bytes);
    if (got == Socket::Got::end) return false;
    if (got == Socket::Got::nothing_yet || guest.known) return true;
    const Decoded decoded = decode(guest.bytes, guest.greeting);
    if (decoded == Decoded::more_to_come) return true;
    const std::string objection = decoded == Decoded::garbage ? "this is not a greeting of ddpkit" : object_to(guest.greeting);
    guest.known = objection.empty();
    if (!guest.known) guest.socket.send(encode(Answer{.refusal = objection}), Patience(kFarewell));
    return guest.known;
  }

  std::string object_to(const Greeting& greeting) const {
    if (greeting.world_size != options_.world_size)
      return text("rank ", greeting.rank, " expects ", greeting.world_size, " ranks, rank 0 expects ", options_.world_size);
    if (greeting.rank < 1 || greeting.rank >= options_.world_size)
      return text("no rank ", greeting.rank, " can come to rank 0 of ", options_.world_size);
    for (const Guest& other : guests_)
      if (other.known && other.greeting.rank == greeting.rank)
        return text("a rank ", greeting.rank, " is there already; do two processes have the same rank?");
    return {};
  }

  [[noreturn]] void send_home() {
    std::vector<int> missing;
    for (int rank = 1; rank < options_.world_size; ++rank) missing.push_back(rank);
    for (const Guest& guest : guests_)
      if (guest.known) std::erase(missing, guest.greeting.rank);
    const std::string why =
        text(name_ranks(missing, options_.world_size), " did not come within ", options_.timeout.count(), " ms");
    tell_known({.refusal = why, .status = ExitStatus::timeout});
    throw CommError(text("rank 0: ", where(options_.address), ": ", why), ExitStatus::timeout);
  }

  void tell_known(const Answer& answer) {
    const std::string bytes = encode(answer);
    const Patience farewell(kFarewell);
    for (Guest& guest : guests_)
      if (guest.known) guest.socket.send(bytes, farewell);
  }

  const Options& options_;
  const Socket& listener_;
  Patience patience_;
  std::vector<Guest> guests_;
};

TcpRendezvous::TcpRendezvous(Options options) : options_(std::move(options)) {
  if (options_.rank == 0) listener_ = Socket::listen(options_.address);
}

std::vector<std::string> TcpRendezvous::meet(const std::string& mine) {
  return options_.rank == 0 ? Reception(options_, listener_).receive_all(mine) : visit(mine);
}

std::vector<std::string> TcpRendezvous::visit(const std::string& mine) {
  const std::string place = text("rank ", options_.rank, ": ", where(options_.address));
  // Rank 0 names the missing when its own time is over; wait for its word.
  Patience patience(options_.timeout + kFarewell, kKnockAgain);
  Socket host = Socket::connect(options_.address, patience);
  while (!host.valid() && patience.pause()) host = Socket::connect(options_.address, patience);
  if (!host.valid())
    throw CommError(text(place, ": rank 0 was not there within ", options_.timeout.count(), " ms"), ExitStatus::timeout);
  host.send(encode(Greeting{.rank = options_.rank, .world_size = options_.world_size, .text = mine}), patience);
  Answer answer;
  std::string bytes;
  for (Decoded decoded = Decoded::more_to_come; decoded != Decoded::message; decoded = decode(bytes, answer)) {
    if (decoded == Decoded::garbage) throw CommError(text(place, ": what answers there is not rank 0 of a ddpkit program"));
    host.wait_readable(patience);
    if (host.receive(bytes) == Socket::Got::end) throw CommError(text(place, ": rank 0 hung up"));
    if (patience.left().count() == 0) throw CommError(text(place, ": rank 0 did not answer"), ExitStatus::timeout);
  }
  if (!answer.refusal.empty()) throw CommError(text(place, ": refused: ", answer.refusal), answer.status);
  if (answer.texts.size() != static_cast<std::size_t>(options_.world_size))
    throw CommError(text(place, ": expected ", options_.world_size, " texts, got ", answer.texts.size()), ExitStatus::disagree);
  return answer.texts;
}

}  // namespace ddpkit::nccl
