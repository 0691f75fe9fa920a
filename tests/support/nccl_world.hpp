#pragma once

#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "comm/nccl/nccl_communicator.hpp"
#include "comm/nccl/rendezvous.hpp"
#include "support/fake_gpu.hpp"

namespace ddpkit::testing {

/// Where the ranks of one process exchange their texts.
class MeetingPlace {
 public:
  explicit MeetingPlace(int ranks) : texts_(static_cast<std::size_t>(ranks)) {}

  std::vector<std::string> meet(int rank, const std::string& mine) {
    std::unique_lock lock(mutex_);
    texts_[static_cast<std::size_t>(rank)] = mine;
    ++present_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return present_ == static_cast<int>(texts_.size()); });
    return texts_;
  }

  int ranks() const { return static_cast<int>(texts_.size()); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
  int present_ = 0;
};

class ThreadRendezvous final : public nccl::Rendezvous {
 public:
  ThreadRendezvous(MeetingPlace& place, int rank) : place_(place), rank_(rank) {}
  int rank() const override { return rank_; }
  int world_size() const override { return place_.ranks(); }
  std::vector<std::string> meet(const std::string& mine) override { return place_.meet(rank_, mine); }

 private:
  MeetingPlace& place_;
  int rank_;
};

struct WorldOptions {
  std::chrono::milliseconds timeout{30000};
  std::function<void(const Error&)> end_job = [](const Error&) {};
};

/// Runs `body` on `ranks` threads, each with its own communicator over the stand-ins. What each threw, by rank, null for none.
inline std::vector<std::exception_ptr> try_ranks(int ranks, const std::function<void(Communicator&)>& body,
                                                 const WorldOptions& options = {}) {
  MeetingPlace place(ranks);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadRendezvous rendezvous(place, rank);
        const auto comm = nccl::NcclCommunicator::connect(
            rendezvous, {.device = rank, .timeout = options.timeout, .end_job = options.end_job});
        body(*comm);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// The same, rethrowing the first error.
inline void run_ranks(int ranks, const std::function<void(Communicator&)>& body, const WorldOptions& options = {}) {
  for (const std::exception_ptr& error : try_ranks(ranks, body, options))
    if (error) std::rethrow_exception(error);
}

/// One rank alone, on the calling thread.
inline std::unique_ptr<Communicator> lone_rank(const WorldOptions& options = {}) {
  MeetingPlace place(1);
  ThreadRendezvous rendezvous(place, 0);
  return nccl::NcclCommunicator::connect(rendezvous, {.device = 0, .timeout = options.timeout, .end_job = options.end_job});
}

/// An ordinary stream, as LibTorch's current one.
class CallerStream {
 public:
  CallerStream() { cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, 0); }
  ~CallerStream() { cudaStreamDestroy(stream_); }
  CallerStream(const CallerStream&) = delete;
  CallerStream& operator=(const CallerStream&) = delete;
  cudaStream_t get() const { return stream_; }
  int id() const { return stream_->id; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Host elements passed for device memory of `device`.
template <class T>
Buffer on_device(std::vector<T>& elements, int device, cudaStream_t stream = nullptr) {
  Buffer buffer{std::span<T>(elements)};
  buffer.device = {.type = Device::Type::cuda, .index = device, .stream = stream};
  return buffer;
}

/// What an error says, or an empty text.
inline std::string message_of(const std::exception_ptr& error) {
  if (!error) return {};
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& caught) {
    return caught.what();
  }
}

template <class Body>
std::string message_of_throw(const Body& body) {
  try {
    body();
  } catch (const std::exception& caught) {
    return caught.what();
  }
  return {};
}

/// The status of a CommError that `body` throws; `ok` when it throws none.
template <class Body>
ExitStatus status_of_throw(const Body& body) {
  try {
    body();
  } catch (const CommError& error) {
    return error.status();
  }
  return ExitStatus::ok;
}

}  // namespace ddpkit::testing
