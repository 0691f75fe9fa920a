#include "comm/nccl/socket.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit::nccl {
namespace {

struct AddressListDeleter {
  void operator()(addrinfo* list) const noexcept { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, AddressListDeleter>;

AddressList resolve(const Address& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list);
  if (error != 0) throw ConfigError(text("rendezvous: '", address.host, "' is no host: ", gai_strerror(error)));
  return AddressList(list);
}

Socket open(const addrinfo& where) {
  return Socket(::socket(where.ai_family, where.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, where.ai_protocol));
}

void wait_for(int descriptor, short events, const Patience& patience) {
  pollfd entry{.fd = descriptor, .events = events, .revents = 0};
  ::poll(&entry, 1, static_cast<int>(patience.left().count()));
}

bool finish_connecting(const Socket& socket, const Patience& patience) {
  wait_for(socket.descriptor(), POLLOUT, patience);
  int error = ETIMEDOUT;
  socklen_t size = sizeof error;
  pollfd entry{.fd = socket.descriptor(), .events = POLLOUT, .revents = 0};
  if (::poll(&entry, 1, 0) != 1) return false;
  return ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

Address parse_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool good = error == std::errc() && end == port.data() + port.size() && number <= 65535;
  if (host.empty() || !good)
    throw ConfigError(ddpkit::text("rendezvous: expected host:port, as in 10.0.0.1:29500, got '", text, "'"));
  return {std::string(host), std::string(port)};
}

Socket Socket::listen(const Address& address) {
  const AddressList list = resolve(address);
  int error = 0;
  for (const addrinfo* where = list.get(); where != nullptr; where = where->ai_next) {
    Socket socket = open(*where);
    const int yes = 1;
    ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket.descriptor(), where->ai_addr, where->ai_addrlen) == 0 && ::listen(socket.descriptor(), SOMAXCONN) == 0)
      return socket;
    error = errno;
  }
  throw CommError(text("rendezvous: rank 0 cannot listen on ", address.host, ":", address.port, ": ", std::strerror(error)),
                  ExitStatus::config);
}

Socket Socket::connect(const Address& address, const Patience& patience) {
  const AddressList list = resolve(address);
  for (const addrinfo* where = list.get(); where != nullptr; where = where->ai_next) {
    Socket socket = open(*where);
    if (::connect(socket.descriptor(), where->ai_addr, where->ai_addrlen) == 0) return socket;
    if (errno == EINPROGRESS && finish_connecting(socket, patience)) return socket;
  }
  return Socket();
}

Socket Socket::accept() const {
  return Socket(::accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

Socket::~Socket() {
  if (valid()) ::close(descriptor_);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

int Socket::port() const {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&name), &size);
  const bool v6 = name.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port : reinterpret_cast<sockaddr_in&>(name).sin_port);
}

Socket::Got Socket::receive(std::string& bytes) {
  std::array<char, 4096> chunk;
  const ssize_t got = ::recv(descriptor_, chunk.data(), chunk.size(), 0);
  if (got > 0) {
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
    return Got::something;
  }
  const bool try_again = got < 0 && (errno == EAGAIN || errno == EINTR);
  return try_again ? Got::nothing_yet : Got::end;
}

bool Socket::send(std::string_view bytes, const Patience& patience) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if ((errno == EAGAIN || errno == EINTR) && patience.left().count() > 0) {
      wait_for(descriptor_, POLLOUT, patience);
    } else {
      return false;
    }
  }
  return true;
}

void Socket::wait_readable(const Patience& patience) const {
  wait_for(descriptor_, POLLIN, patience);
}

}  // namespace ddpkit::nccl
