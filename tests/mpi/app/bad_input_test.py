"""Trains on bad input under mpirun. Arguments: the trial program, mpirun, its flag for the number of ranks.

Each case checks the status that mpirun returns, that it came within the limit, and that the message names the culprit.
"""
import gzip
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MPIRUN, NP = sys.argv[1:4]
LIMIT = 20  # seconds; what hangs is a failure
USAGE, DATA, INTERNAL, MEMORY, STORAGE, STOPPED, DISAGREE, CONFIG, DIVERGED = 64, 65, 70, 71, 74, 75, 76, 78, 80


class Job(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def settings(self, **given):
        """Settings of a short quiet run, and those given, as arguments; a dot is written __."""
        quick = {"run.dir": str(self.folder / "runs"), "run.steps": "6", "batch.global": "8", "metrics.progress": "off"}
        quick.update({name.replace("__", "."): str(value) for name, value in given.items()})
        return [word for item in quick.items() for word in ("--set", "=".join(item))]

    def start(self, command, environment=None):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT,
                              env={**os.environ, **(environment or {})})

    def job(self, *arguments, ranks=2, environment=None, **given):
        return self.start([MPIRUN, NP, str(ranks), PROGRAM, *arguments, *self.settings(**given)], environment)

    def unequal_job(self, first, second):
        """Two ranks with arguments of their own."""
        return self.start([MPIRUN, NP, "1", PROGRAM, *first, ":", NP, "1", PROGRAM, *second])

    def ends(self, result, status, *words):
        self.assertEqual(result.returncode, status, result.stdout)
        for word in words:
            self.assertIn(word, result.stdout)

    def said_once(self, result, word):
        self.assertEqual(result.stdout.count(word), 1, result.stdout)

    def run_folders(self):
        return [path for path in (self.folder / "runs").glob("run/*") if not path.is_symlink()]


class CommandLineAndConfiguration(Job):
    def test_a_wrong_command_line_ends_with_64(self):
        for words in (["--nope"], ["tarin"]):
            with self.subTest(words):
                result = self.job(*words)
                self.ends(result, USAGE, words[0], "--help")
                self.said_once(result, "--help lists")

    def test_a_wrong_command_line_on_the_second_rank_alone_is_told(self):
        self.ends(self.unequal_job(self.settings(), ["--nope", *self.settings()]), USAGE, "--nope")

    def test_unknown_keys_and_wrong_types_are_listed_in_one_pass(self):
        path = self.folder / "run.yaml"
        path.write_text("batch: {globl: 8}\ncomm: {bucket_mib: true}\n", encoding="utf-8")
        result = self.job("--config", str(path), run__seed="x")
        self.ends(result, CONFIG, f"{path}:1:9: batch.globl: unknown key", "global", f"{path}:2:20: comm.bucket_mib: expected",
                  "run.seed: expected")
        self.said_once(result, "batch.globl")
        self.assertEqual(self.run_folders(), [])

    def test_ranks_with_different_settings_are_refused_with_what_differs(self):
        result = self.unequal_job(self.settings(), self.settings(optimizer__lr=0.5))
        self.ends(result, DISAGREE, "optimizer.lr", "0.5", "rank 1")
        self.said_once(result, "optimizer.lr")
        self.assertEqual(self.run_folders(), [])

    def test_ranks_with_different_verbs_are_refused(self):
        self.ends(self.unequal_job(["train", *self.settings()], ["evaluate", *self.settings()]), DISAGREE, "verb", "evaluate")

    def test_a_batch_that_ranks_cannot_share_names_the_nearest(self):
        result = self.job(batch__global=7)
        self.ends(result, CONFIG, "global batch 7 ", "global batch 6 ", "global batch 8 ")
        self.said_once(result, "cannot be shared equally")

    def test_a_monitor_that_is_no_metric_is_refused_before_training(self):
        result = self.job(train__monitor="valid/acuracy")
        self.ends(result, CONFIG, "valid/acuracy", "valid/accuracy")
        self.assertNotIn("training steps", result.stdout)

    def test_contradicting_variables_of_another_launcher_are_ignored_with_a_warning(self):
        result = self.job(environment={"RANK": "5", "WORLD_SIZE": "7"})
        self.ends(result, 0, "ignoring RANK=5, WORLD_SIZE=7", "2 ranks")
        self.said_once(result, "ignoring RANK")

    def test_omp_num_threads_is_heeded_unless_the_run_file_says_otherwise(self):
        for settings, threads in (({}, 3), ({"run__threads": 1}, 1)):
            result = self.job(environment={"OMP_NUM_THREADS": "3"}, **settings)
            self.ends(result, 0)
            self.assertRegex(result.stdout, rf" 0 +\S+ +\S+ +{threads} +cpu")

    def test_denormal_numbers_are_flushed_unless_the_run_file_says_otherwise(self):
        for settings, done in (({}, "flushed"), ({"run__flush_denormals": "false"}, "kept")):
            result = self.job(**settings)
            self.ends(result, 0, f"denormal numbers {done}")

    def test_more_threads_than_cores_are_warned_of(self):
        self.ends(self.job(run__threads=len(os.sched_getaffinity(0))), 0, "warning: more ranks than cores for rank 0, 1")


class Data(Job):
    def write_idx(self, images=8, cut=0):
        """An image and a label file of 2x2 images, `cut` bytes short."""
        pixels = struct.pack(">BBBBIII", 0, 0, 8, 3, images, 2, 2) + bytes(range(4)) * images
        labels = struct.pack(">BBBBI", 0, 0, 8, 1, images) + bytes(i % 3 for i in range(images))
        with gzip.open(self.folder / "train-images-idx3-ubyte.gz", "wb") as file:
            file.write(pixels[:len(pixels) - cut])
        with gzip.open(self.folder / "train-labels-idx1-ubyte.gz", "wb") as file:
            file.write(labels)

    def from_files(self, **given):
        return self.job(user__data="config", data__train__format="idx", data__train__path=self.folder,
                        data__train__split="train", **given)

    def test_a_missing_file_is_named_once(self):
        missing = f"{self.folder}/train-images-idx3-ubyte.gz: no such file"
        result = self.from_files()
        self.ends(result, DATA, missing)
        self.said_once(result, missing)

    def test_a_truncated_file_is_named(self):
        self.write_idx(cut=3)
        self.ends(self.from_files(), DATA, "train-images-idx3-ubyte")

    def test_no_data_at_all_is_a_configuration_error(self):
        self.ends(self.job(user__data="config"), CONFIG, "data.train")

    def test_evaluating_without_data_is_a_configuration_error(self):
        result = self.job("evaluate", user__data="config")
        self.ends(result, CONFIG, "data.valid")
        self.said_once(result, "data.valid:")

    def test_a_label_out_of_range_is_bad_data_and_names_the_sample(self):
        self.ends(self.job(user__fault="label"), DATA, "sample 31", "7")

    def test_a_sample_that_one_rank_cannot_read_ends_the_job_and_names_the_rank(self):
        self.ends(self.job(user__fault="read", run__steps=40), DATA, "[rank 1/2]", "points.bin: sample 5 is cut off")

    def test_an_empty_data_set_is_refused_once(self):
        result = self.job(user__samples=0)
        self.ends(result, DATA, "the data set is empty")
        self.said_once(result, "is empty")

    def test_fewer_samples_than_ranks_are_refused_once(self):
        result = self.job(user__samples=1)
        self.ends(result, DATA, "1 sample, fewer than the 2 ranks")
        self.said_once(result, "fewer than the 2 ranks")


class Evaluation(Job):
    def metrics(self, result):
        return [line.split("job: ")[1] for line in result.stdout.splitlines() if "valid/loss" in line and "job: " in line]

    def test_evaluating_what_was_trained_gives_the_numbers_of_its_end_on_any_number_of_ranks(self):
        trained = self.job()
        self.ends(trained, 0)
        evaluated = self.job("evaluate", ranks=3, run__resume="latest", batch__global=6)
        self.ends(evaluated, 0)
        self.assertEqual(self.metrics(evaluated), self.metrics(trained)[-1:], evaluated.stdout + trained.stdout)
        self.assertEqual(len(self.run_folders()), 1)

    def test_evaluating_without_weights_is_warned_of(self):
        self.ends(self.job("evaluate", ranks=1), 0, " warn ", "neither run.resume nor run.init_from is set")


class Ranks(Job):
    def test_different_models_are_refused_with_the_parameter_that_differs(self):
        result = self.job(user__fault="model")
        self.ends(result, DISAGREE, "0.weight", "[8, 4]", "[9, 4]", "rank 1")
        self.said_once(result, "[9, 4]")

    def test_an_exception_in_the_loss_of_one_rank_ends_the_job_and_names_the_place(self):
        self.ends(self.job(user__fault="throw"), INTERNAL, "[rank 1/2]", "the user's loss is broken", "step 2")

    def test_a_loss_that_is_not_finite_on_one_rank_ends_all_before_the_update(self):
        result = self.job(user__fault="nan")
        self.ends(result, DIVERGED, "step 2: the loss is not finite; rank 1: loss nan in micro-batch 0", "nothing was updated")
        self.said_once(result, "not finite")

    def test_with_the_policy_skip_all_ranks_go_on_with_equal_finite_weights(self):
        result = self.job(user__fault="nan", step__non_finite="skip")
        self.ends(result, 0)
        weights = {line.split(": ", 1)[1] for line in result.stdout.splitlines() if "weights finite" in line}
        self.assertEqual(result.stdout.count("weights finite"), 2, result.stdout)
        self.assertEqual(len(weights), 1, result.stdout)

    def test_a_signal_to_one_rank_saves_and_stops_all_after_the_same_step(self):
        result = self.job(user__fault="signal", run__steps=50)
        self.ends(result, STOPPED, "rank 0: last step 2", "rank 1: last step 2", "stopped on request and saved")
        [folder] = self.run_folders()
        self.assertTrue((folder / "checkpoints" / "step-00000003" / "manifest.json").exists(),
                        list(folder.glob("checkpoints/*")))
        again = self.job(run__resume="latest", run__steps=5)
        self.ends(again, 0, "going on from", "rank 0: last step 4", "rank 1: last step 4")
        self.assertEqual(self.run_folders(), [folder])

    def test_a_signal_during_evaluation_saves_and_stops_all(self):
        result = self.job(user__fault="signal_in_evaluation", run__steps=50, train__evaluate_every="2 steps",
                          user__valid_samples=2)
        self.ends(result, STOPPED, "stopped on request and saved")
        ends = {line.split(": ", 1)[1] for line in result.stdout.splitlines() if "last step" in line}
        self.assertEqual(len(ends), 1, result.stdout)


class Memory(Job):
    def test_a_window_beyond_the_limit_ends_the_job_with_what_was_asked_for_and_the_limit(self):
        result = self.job(memory__limit="64MiB", memory__when_full="stop", user__hidden=65536, user__samples=2048,
                          batch__global=2048)
        self.ends(result, MEMORY, "memory: 64 MiB for tensors of each of 2 ranks", "out of memory",
                  "a tensor of 256 MiB", "the limit is 64 MiB (memory.limit)", "batch.max_micro")

    def test_a_model_that_does_not_fit_even_with_one_sample_ends_the_job_on_all_ranks_with_what_it_needs(self):
        result = self.job(memory__limit="2200KiB", user__hidden=65536, user__samples=64, batch__global=64)
        self.ends(result, MEMORY, "out of memory on rank 0", "a micro-batch of", "needs more than", "memory.limit")
        self.said_once(result, "there is no smaller one")

    def test_a_window_beyond_the_limit_is_tried_again_with_smaller_micro_batches(self):
        result = self.job(memory__limit="16MiB", user__hidden=16384, user__samples=512, batch__global=512, run__steps=2)
        self.ends(result, 0, "out of memory on rank 0", "micro-batch 256 becomes 128", "set batch.max_micro: ")
        rungs = [json.loads(line) for line in (self.run_folders()[0] / "ladder.jsonl").read_text().splitlines()]
        self.assertEqual(rungs[-1]["rung"], "halve_micro")

    def test_a_limit_beyond_the_machine_is_warned_of(self):
        self.ends(self.job(memory__limit="64TiB"), 0, "memory.limit: 64 TiB is more than rank 0 can count on")

    def test_without_a_limit_the_ranks_share_what_is_available(self):
        self.ends(self.job(), 0, "for tensors of each of 2 ranks (available")


class Folders(Job):
    def test_a_run_to_resume_that_does_not_exist_is_a_storage_error(self):
        result = self.job(run__resume=self.folder / "nowhere")
        self.ends(result, STORAGE, "run.resume", "nowhere")
        self.said_once(result, "does not exist")
        self.assertEqual(self.run_folders(), [])

    def test_a_folder_without_a_checkpoint_is_refused_and_no_run_is_begun(self):
        result = self.job(run__resume=self.folder)
        self.ends(result, STORAGE, "no checkpoint in", str(self.folder))
        self.assertEqual(self.run_folders(), [])

    def test_a_run_folder_that_may_not_be_made_is_a_storage_error_that_names_it(self):
        locked = self.folder / "locked"
        locked.mkdir()
        locked.chmod(0o555)
        place = "/proc/ddpkit" if os.geteuid() == 0 else str(locked / "runs")  # the superuser may write to any real folder
        result = self.job(run__dir=place)
        self.ends(result, STORAGE, f"run folder {place}", "set run.dir to a folder that this user may write to")
        self.said_once(result, "set run.dir")


class MachineReadable(Job):
    def test_json_is_all_there_is_on_standard_output(self):
        result = subprocess.run([PROGRAM, "--json", *self.settings()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True, timeout=LIMIT, check=True)
        lines = [line for line in result.stdout.splitlines() if not line.startswith("rank 0: last step")]
        self.assertEqual(json.loads("\n".join(lines))["step"], 6)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
