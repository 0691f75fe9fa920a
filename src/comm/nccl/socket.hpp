#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "comm/nccl/patience.hpp"

namespace ddpkit::nccl {

/// "host:port" or "[v6]:port".
struct Address {
  std::string host;
  std::string port;
};

/// Throws ConfigError unless `text` has a host and a port of 0 to 65535.
Address parse_address(std::string_view text);

/// A TCP socket that never blocks by itself.
class Socket {
 public:
  /// Throws CommError when the address cannot be listened on.
  static Socket listen(const Address& address);

  /// Not valid when nobody answers yet. Throws ConfigError when the host's name means nothing.
  static Socket connect(const Address& address, const Patience& patience);

  /// A guest that has come to a listening socket; not valid when there is none.
  Socket accept() const;

  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Socket& operator=(Socket&& other) noexcept;

  bool valid() const noexcept { return descriptor_ >= 0; }
  int descriptor() const noexcept { return descriptor_; }
  int port() const;

  enum class Got { something, nothing_yet, end };
  /// Appends what has arrived. `end` also for a broken connection.
  Got receive(std::string& bytes);

  /// False when the other side is gone or does not take it in time.
  bool send(std::string_view bytes, const Patience& patience);

  /// Waits until something can be read, or the limit has passed.
  void wait_readable(const Patience& patience) const;

 private:
  int descriptor_;
};

}  // namespace ddpkit::nccl
