#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

/// How a data set lies on disk.
enum class DataFormat { none, idx, cifar10, npy, csv };

constexpr auto enum_names(DataFormat) {
  return std::to_array<std::pair<DataFormat, std::string_view>>({{DataFormat::none, "none"},
                                                                 {DataFormat::idx, "idx"},
                                                                 {DataFormat::cifar10, "cifar10"},
                                                                 {DataFormat::npy, "npy"},
                                                                 {DataFormat::csv, "csv"}});
}

/// What happens to the samples that do not fill the last window of an epoch.
enum class Tail {
  drop,     ///< they are left out of this epoch
  pad,      ///< the window is filled with repeats of weight 0, which the model never sees
  partial,  ///< a smaller, rightly weighted last window
};

constexpr auto enum_names(Tail) {
  return std::to_array<std::pair<Tail, std::string_view>>(
      {{Tail::drop, "drop"}, {Tail::pad, "pad"}, {Tail::partial, "partial"}});
}

enum class OrderKind { shuffle, sequential, blocks, weighted };

constexpr auto enum_names(OrderKind) {
  return std::to_array<std::pair<OrderKind, std::string_view>>({{OrderKind::shuffle, "shuffle"},
                                                                {OrderKind::sequential, "sequential"},
                                                                {OrderKind::blocks, "blocks"},
                                                                {OrderKind::weighted, "weighted"}});
}

/// One data set: `data.train`, `data.valid`.
struct SourceOptions {
  DataFormat format = DataFormat::none;
  std::string path{};    ///< idx: folder or images file; cifar10: folder; npy: input file; csv: file
  std::string split{};   ///< idx: file name prefix such as "train" or "t10k"; cifar10: "train" or "test"
  std::string target{};  ///< npy: file of targets; csv: name of the target column
};

template <class Visitor>
void visit_fields(Visitor& visit, SourceOptions& options) {
  visit("format", options.format, "how the data set lies on disk; none: the program brings its own");
  visit("path", options.path, "idx and cifar10: a folder; npy and csv: a file");
  visit("split", options.split, "idx: prefix of the file names, such as train or t10k; cifar10: train or test");
  visit("target", options.target, "npy: the file of targets; csv: the name of the target column");
}

/// Changes to each sample, random ones from (seed, epoch, sample).
struct TransformOptions {
  std::vector<double> mean{};  ///< per channel; empty: not normalised
  std::vector<double> std{};
  std::int64_t crop_padding = 0;  ///< random crop to the own size after padding by this; 0: none
  bool flip = false;              ///< random mirror images
};

template <class Visitor>
void visit_fields(Visitor& visit, TransformOptions& options) {
  visit("mean", options.mean, "subtracted from each channel; empty: inputs are not normalised");
  visit("std", options.std, "each channel is divided by it", above(0));
  visit("crop_padding", options.crop_padding, "training only: random crop to the own size after padding by so many zeros",
        at_least(0));
  visit("flip", options.flip, "training only: random horizontal mirror images");
}

/// Section `data`.
struct DataOptions {
  SourceOptions train{};
  SourceOptions valid{};
  TransformOptions transform{};
  OrderKind order = OrderKind::shuffle;
  std::int64_t block = 1024;
  Tail tail = Tail::drop;
  Bytes prefetch = {64 << 20};
  std::int64_t workers = 1;
};

template <class Visitor>
void visit_fields(Visitor& visit, DataOptions& options) {
  visit("train", options.train, "the data set that is trained on");
  visit("valid", options.valid, "the data set for evaluation; every sample counts exactly once");
  visit("transform", options.transform, "changes to each sample on the way to the model");
  visit("order", options.order,
        "order of the samples in an epoch; blocks shuffles runs of `block` samples, for archives read in runs");
  visit("block", options.block, "samples in one run of the order `blocks`", at_least(1));
  visit("tail", options.tail, "what happens to samples that do not fill the last window of an epoch");
  visit("prefetch", options.prefetch, "memory per rank for batches gathered ahead of use", at_least(1));
  visit("workers", options.workers, "threads per rank that gather batches", between(0, 256));
}

}  // namespace ddpkit
