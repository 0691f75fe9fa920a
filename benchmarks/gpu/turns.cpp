#include "turns.hpp"

#include <algorithm>
#include <chrono>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"

namespace bench {

void Turns::add(std::string name, std::function<void()> body) {
  add_block(std::move(name), [body = std::move(body), place = place_](int iterations) {
    body();  // finds its data where its last call left them
    synchronize(place);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < iterations; ++i) body();
    synchronize(place);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
}

void Turns::run() {
  for (Variant& variant : variants_) variant.block(iterations_);
  for (int round = 0; round < rounds_; ++round)
    for (std::size_t turn = 0; turn < variants_.size(); ++turn) {
      Variant& variant = variants_[(turn + static_cast<std::size_t>(round)) % variants_.size()];
      variant.seconds.push_back(variant.block(iterations_) / iterations_);
    }
}

const std::vector<double>& Turns::seconds(const std::string& name) const {
  const auto found = std::ranges::find(variants_, name, &Variant::name);
  if (found == variants_.end()) throw ddpkit::UsageError(ddpkit::text("no variant is called \"", name, "\""));
  return found->seconds;
}

std::map<std::string, std::vector<double>> Turns::samples() const {
  std::map<std::string, std::vector<double>> all;
  for (const Variant& variant : variants_) all[variant.name] = variant.seconds;
  return all;
}

}  // namespace bench
