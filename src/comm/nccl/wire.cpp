#include "comm/nccl/wire.hpp"

#include <cstdint>
#include <string_view>

namespace ddpkit::nccl {
namespace {

constexpr std::string_view kGreetingMark = "DDPKIT-HELLO-1\n";
constexpr std::string_view kAnswerMark = "DDPKIT-REPLY-1\n";
constexpr std::uint32_t kLongestText = 64 * 1024;  // what claims more is no rank of ours
constexpr std::uint32_t kMostTexts = 1 << 20;

void put_number(std::string& bytes, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
}

void put_text(std::string& bytes, const std::string& text) {
  put_number(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}

// Takes fields off the front of what has arrived. After the first that is not there yet, or is impossible, it yields nothing.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  Decoded verdict() const { return verdict_; }

  void mark(std::string_view expected) {
    const std::string_view here = rest_.substr(0, expected.size());
    if (here != expected.substr(0, here.size())) return stop(Decoded::garbage);
    if (here.size() < expected.size()) return stop(Decoded::more_to_come);
    rest_.remove_prefix(expected.size());
  }

  std::uint32_t number(std::uint32_t most) {
    if (rest_.size() < 4) stop(Decoded::more_to_come);
    if (verdict_ != Decoded::message) return 0;
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(rest_[static_cast<std::size_t>(i)]);
    rest_.remove_prefix(4);
    if (value > most) stop(Decoded::garbage);
    return value;
  }

  std::string text() {
    const std::uint32_t size = number(kLongestText);
    if (verdict_ == Decoded::message && rest_.size() < size) stop(Decoded::more_to_come);
    if (verdict_ != Decoded::message) return {};
    const std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }

 private:
  void stop(Decoded why) {
    if (verdict_ == Decoded::message) verdict_ = why;
  }

  std::string_view rest_;
  Decoded verdict_ = Decoded::message;
};

}  // namespace

std::string encode(const Greeting& greeting) {
  std::string bytes(kGreetingMark);
  put_number(bytes, static_cast<std::uint32_t>(greeting.rank));
  put_number(bytes, static_cast<std::uint32_t>(greeting.world_size));
  put_text(bytes, greeting.text);
  return bytes;
}

std::string encode(const Answer& answer) {
  std::string bytes(kAnswerMark);
  put_text(bytes, answer.refusal);
  put_number(bytes, static_cast<std::uint32_t>(answer.status));
  put_number(bytes, static_cast<std::uint32_t>(answer.texts.size()));
  for (const std::string& text : answer.texts) put_text(bytes, text);
  return bytes;
}

Decoded decode(const std::string& bytes, Greeting& greeting) {
  Reader reader(bytes);
  reader.mark(kGreetingMark);
  greeting.rank = static_cast<int>(reader.number(kMostTexts));
  greeting.world_size = static_cast<int>(reader.number(kMostTexts));
  greeting.text = reader.text();
  return reader.verdict();
}

Decoded decode(const std::string& bytes, Answer& answer) {
  Reader reader(bytes);
  reader.mark(kAnswerMark);
  answer.refusal = reader.text();
  answer.status = static_cast<ExitStatus>(reader.number(255));
  const std::uint32_t count = reader.number(kMostTexts);
  answer.texts.clear();
  for (std::uint32_t i = 0; i < count && reader.verdict() == Decoded::message; ++i) answer.texts.push_back(reader.text());
  return reader.verdict();
}

}  // namespace ddpkit::nccl
