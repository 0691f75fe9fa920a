// mpirun -np 2 build/examples/jit_finetune train --config examples/jit_finetune.yaml
// expect: valid/loss 0\.000[0-9]
//
// A module that was traced in Python (jit_finetune/trace.py), trained on here and saved for Python: as a module, and its
// weights as safetensors under the names of its state_dict.
#include <torch/csrc/jit/serialization/import.h>
#include <torch/types.h>
#include <ddpkit/base/text.hpp>
#include <ddpkit/ddpkit.hpp>

/// What the module has learned, sin(3 x), with a slope that it has not seen.
ddpkit::InMemoryDataset make_data(std::int64_t points) {
  const torch::Tensor x = torch::rand({points, 1}) * 2 - 1;
  return ddpkit::tensor_dataset({{"input", x}, {"target", torch::sin(3 * x) + x}});
}

int main(int argc, char** argv) {
  return ddpkit::main(argc, argv, [](ddpkit::Job& job) {
    const ddpkit::InMemoryDataset train = make_data(2048), valid = make_data(512);
    torch::jit::Module module = torch::jit::load(job.config().user("module", "examples/jit_finetune/wave.pt"));
    auto trainer = job.trainer(module, [&](const ddpkit::Batch& batch) -> ddpkit::Loss {
      return torch::mse_loss(module.forward({batch.input()}).toTensor(), batch.target());
    });
    job.log().info("example", ddpkit::text("loss as it came from Python: ", trainer.evaluate(valid).value("loss")));

    const ddpkit::ExitStatus status = job.run(trainer, train, valid);
    if (job.verb() == ddpkit::Verb::train && job.topology().rank == 0) {
      const std::filesystem::path folder = job.run_folder().path();
      module.save((folder / "wave.pt").string());
      ddpkit::save_tensors(folder / "wave.safetensors", trainer.model().weights());
      job.log().info("example", ddpkit::text("saved wave.pt and wave.safetensors in ", folder.string()));
    }
    return status;
  });
}
