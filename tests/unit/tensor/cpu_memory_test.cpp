#include "ddpkit/tensor/cpu_memory.hpp"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <sys/resource.h>
#include <torch/nn/modules/linear.h>
#include <torch/serialize.h>

#include <sstream>
#include <thread>
#include <vector>

#include "ddpkit/tensor/memory_meter.hpp"
#include "support/catch.hpp"

namespace ddpkit {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

at::Tensor mebibytes(std::int64_t count) {
  return at::empty({count * kMebibyte}, at::kByte);
}

/// A process has one allocator, so what a test sets is taken back at its end.
class CpuMemoryForTest {
 public:
  CpuMemoryForTest() {
    install_cpu_memory();
    meter_ = make_memory_meter(c10::kCPU);
    meter_->reset_peak();
  }
  ~CpuMemoryForTest() {
    limit_cpu_memory({});
    refuse_cpu_memory({});
  }
  CpuMemoryForTest(const CpuMemoryForTest&) = delete;
  CpuMemoryForTest& operator=(const CpuMemoryForTest&) = delete;

  MemoryReading read() const { return meter_->read(); }
  MemoryMeter& meter() { return *meter_; }

  /// Leaves room for so many bytes more.
  void leave(std::int64_t bytes) const { limit_cpu_memory({read().live + bytes}); }

 private:
  std::unique_ptr<MemoryMeter> meter_;
};

std::string refusal_of(std::int64_t count) {
  try {
    mebibytes(count);
  } catch (const c10::OutOfMemoryError& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST_CASE("Live bytes follow tensors, and the peak stays until it is reset") {
  CpuMemoryForTest memory;
  const std::int64_t before = memory.read().live;
  {
    const at::Tensor held = mebibytes(8);
    CHECK(memory.read().live - before >= 8 * kMebibyte);
    CHECK(memory.read().live - before < 8 * kMebibyte + 65536);
  }
  CHECK(memory.read().live == before);
  CHECK(memory.read().peak - before >= 8 * kMebibyte);
  memory.meter().reset_peak();
  CHECK(memory.read().peak == before);
  CHECK(memory.read().reserved == before);
}

TEST_CASE("views share what they show, and a storage that grows is counted once") {
  const CpuMemoryForTest memory;
  const std::int64_t before = memory.read().live;
  at::Tensor held = mebibytes(2);
  const at::Tensor view = held.slice(0, 5, 100);
  CHECK(memory.read().live - before < 3 * kMebibyte);
  held.resize_({6 * kMebibyte});
  CHECK(memory.read().live - before >= 6 * kMebibyte);
  CHECK(memory.read().live - before < 7 * kMebibyte);
}

TEST_CASE("beyond the limit a tensor is refused with what was asked for, what lives and the limit") {
  const CpuMemoryForTest memory;
  memory.leave(4 * kMebibyte);
  CHECK_NOTHROW(mebibytes(3));
  const std::string refusal = refusal_of(96);
  CHECK_THAT(refusal, Catch::Contains("a tensor of 96 MiB"));
  CHECK_THAT(refusal, Catch::Contains("live on the CPU"));
  CHECK_THAT(refusal, Catch::Contains("memory.limit"));
  CHECK_NOTHROW(mebibytes(3));
  CHECK(memory.read().limit == memory.read().live + 4 * kMebibyte);
  limit_cpu_memory({});
  CHECK_NOTHROW(mebibytes(96));
}

TEST_CASE("what the system itself refuses is out of memory too") {
  const CpuMemoryForTest memory;
  CHECK_THAT(refusal_of(std::int64_t{1} << 40), Catch::Contains("the system has no more"));
}

TEST_CASE("a refused allocation leaves the counts as they were") {
  const CpuMemoryForTest memory;
  memory.leave(kMebibyte);
  const MemoryReading before = memory.read();
  CHECK_THROWS_AS(mebibytes(2), c10::OutOfMemoryError);
  CHECK(memory.read().live == before.live);
  CHECK(memory.read().peak == before.peak);
}

TEST_CASE("a test may refuse any allocation") {
  const CpuMemoryForTest memory;
  std::size_t asked = 0;
  refuse_cpu_memory([&](std::size_t bytes) {
    asked = bytes;
    return bytes == 3 * kMebibyte;
  });
  CHECK_NOTHROW(mebibytes(2));
  CHECK(asked == 2 * kMebibyte);
  CHECK_THROWS_AS(mebibytes(3), c10::OutOfMemoryError);
  refuse_cpu_memory({});
  CHECK_NOTHROW(mebibytes(3));
}

TEST_CASE("failures leave nothing behind") {
  const CpuMemoryForTest memory;
  const at::Tensor input = at::randn({512, 512});
  const std::int64_t before = memory.read().live;
  memory.leave(3 * kMebibyte / 2);
  for (int i = 0; i < 200; ++i) CHECK_THROWS_AS(at::relu(input).matmul(input).add(1), c10::OutOfMemoryError);
  CHECK(memory.read().live == before);
}

TEST_CASE("tensors of several threads are counted") {
  const CpuMemoryForTest memory;
  const std::int64_t before = memory.read().live;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int j = 0; j < 1000; ++j) at::empty({100 + j});
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(memory.read().live == before);
}

TEST_CASE("LibTorch's raw blocks, empty tensors and saved tensors work") {
  const CpuMemoryForTest memory;
  const std::int64_t before = memory.read().live;
  void* const raw = c10::GetCPUAllocator()->raw_allocate(kMebibyte);
  CHECK(memory.read().live - before >= kMebibyte);
  c10::GetCPUAllocator()->raw_deallocate(raw);
  CHECK(memory.read().live == before);
  CHECK(at::empty({0}).numel() == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(at::empty({3}).data_ptr()) % 64 == 0);
  std::stringstream file;
  const at::Tensor saved = at::arange(100);
  torch::save(saved, file);
  at::Tensor loaded;
  torch::load(loaded, file);
  CHECK(loaded.equal(saved));
}

std::int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST_CASE("gradients that are freed and made again in every step need no pages of the kernel") {
  const CpuMemoryForTest memory;
  const auto step = [] {
    std::vector<at::Tensor> gradients;
    for (const std::int64_t size : {24, 8, 16, 1}) gradients.push_back(mebibytes(size).fill_(1));
  };
  for (int i = 0; i < 20; ++i) step();  // until the heap has found a place for each
  const std::int64_t before = page_faults();
  for (int i = 0; i < 3; ++i) step();
  CHECK(page_faults() - before < 1000);  // 49 MiB are 12,544 pages, in each of three steps
}

TEST_CASE("installing twice keeps the counts") {
  const CpuMemoryForTest memory;
  const at::Tensor held = mebibytes(1);
  const std::int64_t before = memory.read().live;
  install_cpu_memory();
  CHECK(cpu_memory_installed());
  CHECK(memory.read().live == before);
}

}  // namespace
}  // namespace ddpkit
