#pragma once

// Seen by the CUDA compiler: C++17 only.

namespace ddpkit::cuda {

/// Elements that lie side by side, and what belongs to them; an UpdateStrip as the device takes it.
struct LaunchedStrip {
  void* parameter;
  const void* gradient;
  void* moments[2];
  long long count;
};

/// Many strips for one kernel, by value: all that fit the 4 KiB a launch may hand over.
struct UpdateLaunch {
  static constexpr int kMostStrips = 80;
  static constexpr long long kChunk = 4096;  ///< elements of one strip that one block takes

  LaunchedStrip strips[kMostStrips];
  unsigned first_chunk[kMostStrips + 1];  ///< of each strip among all chunks; behind them, the number of chunks
  int strip_count;
};

}  // namespace ddpkit::cuda
