#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace ddpkit::testing {

/// A collective of one fake rank on a fake stream.
struct FakeOp {
  bool done = false;
};

/// The state behind the stand-ins of the CUDA runtime and of NCCL (fake_cudart.cpp, fake_nccl.cpp): "device" memory is host
/// memory, ranks are threads of this process, rank r uses device r, and a collective is carried out by the rank that comes
/// last. The APIs being free functions, there is one per process; `reset` at the beginning of each test.
class FakeGpu {
 public:
  static FakeGpu& get();

  /// What tests set.
  struct Behaviour {
    int devices = 8;
    int shared_bus_ids = 1;              ///< so many neighbouring devices have one PCI bus id
    bool stalled = false;                ///< collectives are taken but never carried out
    int polls_in_progress = 0;           ///< how often each new communicator answers ncclInProgress
    bool collectives_take_time = false;  ///< as well as each collective
    bool finalize_hangs = false;
    /// cudaStreamWaitEvent of an ordinary stream blocks the calling thread: the test's own code is what runs on that stream.
    bool host_is_stream = false;
    int fail_call = -1;                        ///< the call with this number, counted from 0, fails
    std::map<int, ncclResult_t> async_errors;  ///< by rank
  };
  Behaviour behaviour;

  /// What tests read.
  std::vector<std::string> log;         ///< "cudaEventRecord", in order
  std::vector<std::string> stream_log;  ///< what concerns streams: "record e1 s2", "wait s3 e1", "ncclAllReduce s3"
  std::string failed_call;              ///< name of the call that `fail_call` hit
  int live = 0;                         ///< handles and blocks that were made and not ended
  int aborts = 0;
  int destroys = 0;
  int registrations = 0;  ///< live ones
  int windows = 0;        ///< live ones

  void reset();
  int count(std::string_view call) const;

  /// Every stand-in begins with it: true when it is to fail.
  bool enter(const char* call);

  std::recursive_mutex mutex;
  std::condition_variable_any changed;
  int next_id = 1;
};

}  // namespace ddpkit::testing

struct CUstream_st {
  int id = 0;
  int priority = 0;
  std::vector<std::shared_ptr<ddpkit::testing::FakeOp>> tail;
};

struct CUevent_st {
  int id = 0;
  std::vector<std::shared_ptr<ddpkit::testing::FakeOp>> after;
};

namespace ddpkit::testing {
bool all_done(const std::vector<std::shared_ptr<FakeOp>>& ops);
}
