#pragma once

#include <string>

#include "ddpkit/data/in_memory_dataset.hpp"

namespace ddpkit {

/// The two files of a labelled set of images in the IDX format of MNIST and its kin, plain or gzip.
struct IdxFiles {
  std::string images;
  std::string labels;
};

/// Finds the files. `path` is a folder, where `split` ("train", "t10k") is the prefix of the names, as in
/// train-images-idx3-ubyte.gz, or the file of images, beside which the labels lie. Throws DataError, with the way to get
/// Fashion-MNIST where that is what is missing, and ConfigError for a folder without a split.
IdxFiles find_idx(const std::string& path, const std::string& split);

/// Reads both files into memory. "input" is float32 in [0, 1] of shape {1, height, width}, or of the stored shape when that is
/// not two-dimensional, kept as bytes and scaled when gathered; "target" is int64. Throws DataError that names the file:
/// missing, cut off, damaged, wrong magic number, or different counts.
InMemoryDataset read_idx(const IdxFiles& files);

}  // namespace ddpkit
