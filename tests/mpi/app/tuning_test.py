"""The verbs probe and tune under mpirun. Arguments: the trial program, mpirun, its flag for the number of ranks."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MPIRUN, NP = sys.argv[1:4]
LIMIT = 40  # seconds; what hangs is a failure
RUN_FILE = """# mine
run: {{name: toy, seed: 3, dir: {folder}/runs}}   # where it goes
batch:
  global: 16   # all ranks
  accumulate: auto
tune: {{precision: 1, max_micro: 8, warmup: 1}}
user: {{samples: 64}}
"""


class Tuning(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.run_file = self.folder / "run.yaml"
        self.run_file.write_text(RUN_FILE.format(folder=folder.name), encoding="utf-8")
        self.before = self.run_file.read_bytes()

    def job(self, *arguments, ranks=2):
        return subprocess.run([MPIRUN, NP, str(ranks), PROGRAM, *arguments, "--config", str(self.run_file)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)

    def document(self, result):
        """What is on standard output, but for the trial program's own last words."""
        return json.loads("\n".join(line for line in result.stdout.splitlines() if ": last step" not in line))

    def run_folders(self):
        return [path for path in (self.folder / "runs").glob("toy/*") if not path.is_symlink()]

    def test_probe_prints_phases_and_a_verdict(self):
        result = self.job("probe")
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ("global batch 16 = micro 8 x accumulate 1 x 2 ranks", "backward", "fits: "):
            self.assertIn(words, result.stdout)
        self.assertEqual(self.run_folders(), [])

    def test_probe_gives_one_document(self):
        result = self.job("probe", "--repeat", "7", "--json", ranks=3)
        self.assertNotEqual(result.returncode, 0, "16 samples cannot be shared by 3 ranks")
        document = self.document(self.job("probe", "--repeat", "7", "--json"))
        self.assertEqual((document["verb"], document["windows"], document["world_size"]), ("probe", 7, 2))
        self.assertEqual(document["batch"], {"global": 16, "micro": 8, "accumulate": 1})
        self.assertEqual(len(document["placement"]), 2)
        self.assertGreater(document["memory"]["peak_bytes"]["forward"], 0)
        self.assertGreater(document["memory"]["ranks"][1]["limit_bytes"], document["memory"]["ranks"][1]["peak_bytes"])
        self.assertLess(document["step_seconds"]["low"], document["step_seconds"]["high"])

    def test_tune_writes_profile_and_picture_and_leaves_the_run_file(self):
        result = self.job("tune")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("batch: {global: 16, micro: ", result.stdout)
        self.assertEqual(self.run_file.read_bytes(), self.before)
        (folder,) = self.run_folders()
        profile = json.loads((folder / "tune.json").read_text(encoding="utf-8"))
        self.assertEqual(profile["world_size"], 2)
        self.assertTrue((folder / "tune.svg").read_text(encoding="utf-8").startswith("<svg"))

    def test_tune_puts_the_batch_into_the_run_file_and_keeps_the_rest(self):
        found = self.folder / "found"
        result = self.job("tune", "--write", "--out", str(found), "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        micro = self.document(result)["choice"]["micro"]
        expected = self.before.decode().replace("  # all ranks\n", f"  # all ranks\n  micro: {micro}\n")
        self.assertEqual(self.run_file.read_text(encoding="utf-8"), expected)
        self.assertEqual(sorted(path.name for path in found.iterdir()), ["tune.json", "tune.svg"])
        self.assertEqual(self.run_folders(), [])
        self.assertEqual(self.job("train").returncode, 0)

    def test_what_cannot_be_measured_ends_with_one_sentence_and_whole_files(self):
        for setting, words in {"tune.budget=1ms": "tune.budget of 1 ms", "memory.limit=1KiB": "memory.limit",
                               "user.fault=throw": "the user's loss is broken"}.items():
            with self.subTest(setting):
                result = self.job("tune", "--write", "--set", setting, "--set", "user.step=0")
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(words, result.stderr)
                self.assertEqual(self.run_file.read_bytes(), self.before)
                for folder in self.run_folders():
                    self.assertEqual(sorted(path.name for path in folder.iterdir()), ["config.yaml", "log.txt"])

    def test_writing_without_a_run_file_is_a_wrong_command_line(self):
        result = subprocess.run([PROGRAM, "tune", "--write"], text=True, stderr=subprocess.PIPE, timeout=LIMIT)
        self.assertEqual(result.returncode, 64)
        self.assertIn("--config", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
