"""Runs `ddpkit plan` as a user does. Arguments: the program, the root of the project."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = sys.argv[1]
USAGE, STORAGE, CONFIG = 64, 74, 78


def plan(line, *more):
    return subprocess.run([PROGRAM, "plan", *line.split(), *more], capture_output=True, text=True, timeout=20)


class Plan(unittest.TestCase):
    def succeeds(self, line, *more):
        result = plan(line, *more)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def refuses(self, status, words, line, *more):
        result = plan(line, *more)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(words, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1)
        return result.stdout

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def run_file(self, text):
        path = self.folder() / "run.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def profile(self):
        """1 ms and 0.1 ms per sample; 10 MiB and 1 MiB per sample."""
        measured = [{"micro": b, "seconds": 0.001 + 0.0001 * b, "half_width": 0.0, "repeats": 5, "peak_bytes": (10 + b) << 20,
                     "data_share": 0.0, "communication_share": 0.0, "utilisation": None} for b in (1, 2, 4, 8, 16, 32, 64, 128)]
        path = self.folder() / "tune.json"
        path.write_text(json.dumps({
            "format": "ddpkit batch profile", "version": 1, "model": "mlp", "device": "cpu", "world_size": 2, "nodes": 1,
            "measured": measured, "out_of_memory": [], "communication_seconds": 0.002, "update_seconds": 0.0,
            "gradient_bytes": 1 << 20, "memory_limit": 100 << 20, "memory_target": 0.9, "knee_efficiency": 0.85,
            "dataset": 60000, "choice": {"global": 256, "micro": 64, "accumulate": 2}, "explanation": ""}))
        return str(path)

    def test_the_chosen_plan_comes_first_and_is_marked_and_explained(self):
        lines = self.succeeds("--global 1024 --world 8 --max-micro 64 --dataset 60000 --lr 0.1 --scaling linear "
                              "--warmup 5% --epochs 5").splitlines()
        self.assertEqual(lines[0].split(),
                         ["micro", "accumulate", "ranks", "global", "lr", "warm-up", "steps", "steps/epoch", "dropped"])
        self.assertEqual(lines[1].split(), ["*", "64", "2", "8", "1,024", "0.4", "15", "290", "58", "608"])
        self.assertIn("micro 64 is the largest micro-batch up to 64", lines[-1])

    def test_48_fitting_of_128_on_2_ranks_is_32_twice(self):
        self.assertEqual(self.succeeds("--global 128 --world 2 --max-micro 48").splitlines()[1].split()[:4],
                         ["*", "32", "2", "2"])

    def test_where_nothing_fits_the_nearest_plans_are_listed_with_their_cost(self):
        output = self.refuses(CONFIG, "micro 48 does not divide the 64 samples", "--global 128 --world 2 --micro 48")
        self.assertEqual(output.splitlines()[2].split()[:3], ["32", "2", "2"])
        self.assertIn("micro 32 instead of 48", output)
        self.assertIn("25 % fewer samples", output)

    def test_json_is_one_document_also_where_nothing_fits(self):
        document = json.loads(self.succeeds("--global 1024 --world 8 --json --all"))
        self.assertEqual((document["total"], len(document["plans"])), (8, 8))
        document = json.loads(self.refuses(CONFIG, "3 ranks", "--global 1000 --world 3 --json"))
        self.assertEqual(document["plans"], [])
        self.assertTrue(document["nearest"][0]["cost"])

    def test_all_lists_what_is_left_out_otherwise(self):
        self.assertIn("3 more plans with --all", self.succeeds("--global 4096 --world 1"))
        self.assertEqual(len(self.succeeds("--global 4096 --world 1 --all").splitlines()), 16)

    def test_a_run_file_fills_in_what_is_not_typed(self):
        path = self.run_file("batch: {global: 512, max_micro: 48}\noptimizer: {lr: 0.2}\n"
                             "schedule: {scaling: linear, reference_batch: 512}\nrun: {steps: 100}\n")
        document = json.loads(self.succeeds("--world 4 --json --config", path))
        self.assertEqual(document["plans"][0], {"global": 512, "micro": 32, "accumulate": 4, "world": 4, "lr": 0.2,
                                                "warmup_steps": 0, "steps": 100})
        document = json.loads(self.succeeds("--world 4 --global 1024 --lr 0.1 --json --config", path))
        self.assertEqual((document["plans"][0]["global"], document["plans"][0]["lr"]), (1024, 0.2))

    def test_data_that_cannot_be_read_are_told_and_planned_without(self):
        path = self.run_file("data: {train: {format: npy, path: /nowhere}}\n")
        result = plan("--world 2 --json --config", path)
        self.assertEqual(result.returncode, 0)
        self.assertIn("give --dataset", result.stderr)
        self.assertNotIn("steps_per_epoch", json.loads(result.stdout)["plans"][0])
        self.assertIn("steps_per_epoch", json.loads(self.succeeds("--world 2 --dataset 999 --json --config", path))["plans"][0])

    def test_a_profile_adds_memory_and_time_and_says_what_a_larger_micro_batch_would_bring(self):
        output = self.succeeds("--global 256 --profile", self.profile())
        self.assertEqual(output.splitlines()[1].split(),
                         ["*", "64", "2", "2", "256", "234", "234", "96", "74", "MiB", "(74", "%)", "16.8", "ms", "15,200"])
        self.assertIn("128 would gain", output)

    def test_a_limit_below_one_sample_says_what_one_needs(self):
        output = self.refuses(CONFIG, "below what one sample needs, 11 MiB", "--global 256 --memory-limit 10MiB --profile",
                              self.profile())
        self.assertEqual(output, "")

    def test_time_to_target_is_a_table_a_document_and_a_picture(self):
        picture = self.folder() / "time.svg"
        output = self.succeeds("--critical-batch 790 --critical-low 600 --critical-high 1100 --profile", self.profile(),
                               "--svg", str(picture))
        self.assertEqual(output.split()[:3], ["devices", "global", "micro"])
        self.assertIn("fastest: global batch", output)
        self.assertIn("An estimate.", output)
        root = xml.etree.ElementTree.parse(picture).getroot()
        self.assertEqual(len(root), 4)
        document = json.loads(self.succeeds("--critical-batch 790 --target-steps 1000 --json --profile", self.profile()))
        self.assertEqual((document["unit"], document["reference"]["global"]), ("seconds", 256))
        self.assertAlmostEqual(document["reference"]["time"], 1000 * 0.0168)

    def test_time_to_target_says_what_it_lacks(self):
        self.refuses(USAGE, "needs the step times of a --profile", "--global 8 --critical-batch 790")
        self.refuses(USAGE, "need --critical-batch", "--global 8 --svg time.svg")
        self.refuses(CONFIG, "critical batch must be above 0", "--critical-batch 0 --profile", self.profile())
        self.refuses(STORAGE, "cannot write /nowhere/time.svg", "--critical-batch 790 --svg /nowhere/time.svg --profile",
                     self.profile())

    def test_numbers_that_cannot_be_end_with_64_and_say_what_to_give(self):
        self.assertEqual(self.refuses(USAGE, "--global: expected a whole number of at least 1, got 0", "--global 0"), "")
        self.refuses(USAGE, "--micro: expected a whole number of at least 1, got -3", "--micro=-3 --world 2")
        self.refuses(USAGE, "--world: expected a whole number, got two", "--global 8 --world two")
        self.refuses(USAGE, "--global: expected", "--global 9223372036854775808")
        self.refuses(USAGE, "--tail: expected one of drop, pad, partial, got dorp", "--global 8 --tail dorp")
        self.refuses(USAGE, "--lr: expected", "--global 8 --lr nan")
        self.refuses(USAGE, "too little is known", "--world 8")
        self.refuses(USAGE, "without a profile", "--global 8 --memory-limit 1GiB")

    def test_products_that_cannot_be_end_with_78_and_say_what_to_change(self):
        self.refuses(CONFIG, "make one of them smaller", "--micro 9223372036854775807 --world 2")
        self.refuses(CONFIG, "micro 8 x accumulate 3 x 2 ranks makes 48", "--global 64 --world 2 --micro 8 --accumulate 3")
        self.refuses(CONFIG, "tail partial or a smaller global batch", "--global 64 --world 2 --dataset 63")
        self.refuses(CONFIG, "shorten it", "--global 64 --dataset 640 --warmup", "11 steps")

    def test_files_that_are_not_there_end_with_74(self):
        self.refuses(STORAGE, "/nowhere/run.yaml", "--config /nowhere/run.yaml")
        self.refuses(STORAGE, "/nowhere/tune.json", "--global 8 --profile /nowhere/tune.json")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
