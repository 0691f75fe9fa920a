#include "observe/tensorboard_event.hpp"

#include <bit>
#include <concepts>
#include <cstdint>

#include "observe/crc32c.hpp"

namespace ddpkit {
namespace {

template <std::unsigned_integral T>
void append_little_endian(std::string& out, T value) {
  for (std::size_t byte = 0; byte < sizeof(T); ++byte) out += static_cast<char>((value >> (8 * byte)) & 0xffU);
}

// One protocol-buffer message under construction; a method per wire type.
class Message {
 public:
  Message& varint(unsigned field, std::uint64_t value) {
    key(field, 0);
    raw_varint(value);
    return *this;
  }
  Message& fixed64(unsigned field, double value) {
    key(field, 1);
    append_little_endian(bytes_, std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  Message& fixed32(unsigned field, float value) {
    key(field, 5);
    append_little_endian(bytes_, std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  Message& bytes(unsigned field, std::string_view value) {
    key(field, 2);
    raw_varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(unsigned field, const Message& inner) { return bytes(field, inner.bytes_); }
  const std::string& str() const { return bytes_; }

 private:
  void key(unsigned field, unsigned wire_type) { raw_varint((field << 3) | wire_type); }
  void raw_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7fU) | 0x80U);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

double seconds_of(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

// Summary.Value {tag = 1, simple_value = 2}
Message scalar(const std::string& tag, double value) {
  return Message().bytes(1, tag).fixed32(2, static_cast<float>(value));
}

// Summary.Value {tag = 1, tensor = 8, metadata = 9} with a TensorProto {dtype = 1 (DT_STRING), tensor_shape = 2, string_val =
// 8}
Message text_summary(const std::string& tag, const std::string& text) {
  const Message one_element = Message().message(2, Message().varint(1, 1));
  const Message tensor = Message().varint(1, 7).message(2, one_element).bytes(8, text);
  const Message metadata = Message().message(1, Message().bytes(1, "text"));
  return Message().bytes(1, tag).message(8, tensor).message(9, metadata);
}

}  // namespace

std::string version_event(std::chrono::system_clock::time_point time) {
  return Message().fixed64(1, seconds_of(time)).bytes(3, "brain.Event:2").str();
}

std::string metric_event(const MetricRecord& record) {
  const std::string prefix = std::string(name_of(record.kind)) + '/';
  Message summary;
  for (const Metric& metric : record.values) summary.message(1, scalar(prefix + metric.name, metric.value));
  if (!record.text.empty()) summary.message(1, text_summary(prefix + "text", record.text));
  const auto step = static_cast<std::uint64_t>(record.step);
  return Message().fixed64(1, seconds_of(record.time)).varint(2, step).message(5, summary).str();
}

std::string framed(std::string_view event) {
  std::string out;
  append_little_endian(out, static_cast<std::uint64_t>(event.size()));
  append_little_endian(out, masked_crc32c(out));
  out += event;
  append_little_endian(out, masked_crc32c(event));
  return out;
}

}  // namespace ddpkit
