"""Runs `ddpkit verify` on a program and an mpirun that only pretend. Argument: the command ddpkit."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TOOL = sys.argv[1]
HERE = pathlib.Path(__file__).resolve().parent
PROGRAM, MPIRUN = str(HERE / "fake_program.py"), str(HERE / "fake_mpirun.sh")
BAD, USAGE, DATA, CONFIG, TIMEOUT = 1, 64, 65, 78, 124


class Verify(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.config = self.folder / "run.yaml"
        self.config.write_text("run: {name: pretended}\nbatch: {global: 256}\n", encoding="utf-8")
        self.out = self.folder / "out"

    def verify(self, *options, program=(PROGRAM,), mode="", mpirun=MPIRUN, ranks="1,2"):
        command = [TOOL, "verify", "--config", str(self.config), "--ranks", ranks, "--out", str(self.out), "--mpirun", mpirun,
                   "--other-work", "100", *options,
                   "--", *program]
        environment = dict(os.environ, FAKE_TOOL=TOOL, FAKE_MODE=mode)
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, env=environment)

    def findings(self):
        document = json.loads((self.out / "verify.json").read_text(encoding="utf-8"))
        return {finding["dimension"]: finding for finding in document["findings"]}

    def test_a_good_run_is_called_good_in_a_table_a_document_and_a_page(self):
        result = self.verify()
        self.assertEqual(result.returncode, 0, result.stderr)
        for dimension in ("utilisation", "scaling", "memory", "convergence"):
            self.assertRegex(result.stdout, rf"{dimension} +good")
            self.assertEqual(self.findings()[dimension]["verdict"], "good")
        page = (self.out / "verify.html").read_text(encoding="utf-8")
        self.assertLess(len(page), 300_000)
        root = xml.etree.ElementTree.fromstring(page)
        self.assertEqual(len(list(root.iter("{http://www.w3.org/2000/svg}title"))), 3)
        self.assertIn("All four dimensions are good", page)
        self.assertNotIn("<script", page)

    def test_nothing_is_left_but_the_two_reports(self):
        self.verify()
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["verify.html", "verify.json"])
        self.verify(mode="crash")
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["verify.html", "verify.json"])

    def test_json_is_one_document_equal_to_the_file(self):
        result = self.verify("--json")
        self.assertEqual(result.stdout, (self.out / "verify.json").read_text(encoding="utf-8"))
        document = json.loads(result.stdout)
        self.assertEqual([probe["world_size"] for probe in document["probes"]], [1, 2])
        self.assertEqual([(c["ranks"], c["micro"], c["accumulate"]) for c in document["curves"]],
                         [(1, 256, 1), (1, 128, 2), (1, 64, 4), (2, 128, 1)])

    def test_every_rank_has_the_threads_of_the_most_ranks(self):
        document = json.loads(self.verify("--json").stdout)
        self.assertEqual({rank["threads"] for probe in document["probes"] for rank in probe["placement"]}, {1})
        self.assertTrue(any("run.threads=1" in command for command in document["commands"]))

    def test_more_ranks_than_cores_are_called_out_and_not_judged(self):
        result = self.verify(ranks="4,1,2,2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("On 4 ranks there were more ranks than cores", self.findings()["scaling"]["sentence"])
        self.assertIn("not judged", (self.out / "verify.html").read_text(encoding="utf-8"))

    def test_slow_ranks_are_bad_scaling_with_advice(self):
        result = self.verify(mode="slow")
        self.assertEqual(result.returncode, BAD)
        scaling = self.findings()["scaling"]
        self.assertEqual((scaling["verdict"], scaling["figure"]), ("bad", "57 %"))
        self.assertIn("for gradients", scaling["advice"])

    def test_memory_over_its_target_or_run_out_is_bad(self):
        for mode, word in (("full", "97 %"), ("oom", "too little")):
            with self.subTest(mode):
                self.assertEqual(self.verify(mode=mode).returncode, BAD)
                self.assertEqual(self.findings()["memory"]["figure"], word)

    def test_plans_that_differ_are_told_apart(self):
        for mode, word in (("batchnorm", "batch norm"), ("scale", "the update depends on the plan"), ("nan", "learning rate")):
            with self.subTest(mode):
                self.assertIn(self.verify(mode=mode).returncode, (0, BAD))
                self.assertNotEqual(self.findings()["convergence"]["verdict"], "good")
                self.assertIn(word, self.findings()["convergence"]["advice"])

    def test_arguments_of_the_program_reach_it(self):
        result = self.verify("--json", program=(PROGRAM, "--chosen", "--set", "run.name=other one"))
        self.assertEqual(json.loads(result.stdout)["run"], "other one")

    def test_a_run_that_fails_tells_its_command_its_last_lines_and_its_status(self):
        result = self.verify(mode="crash")
        self.assertEqual((result.returncode, result.stdout), (DATA, ""))
        self.assertIn("the run on 1 rank, micro 256 x accumulate 1 ended with status 65 (bad data)", result.stderr)
        self.assertIn("something broke in layer 3", result.stderr)
        self.assertIn(f"command: {MPIRUN} -np 1 {PROGRAM} train", result.stderr)

    def test_a_run_that_hangs_is_ended(self):
        result = self.verify("--time-limit", "1", mode="hang")
        self.assertEqual(result.returncode, TIMEOUT)
        self.assertIn("--time-limit", result.stderr)

    def test_a_bad_configuration_ends_with_78(self):
        self.config.write_text("batch: {globl: 1}\n", encoding="utf-8")
        result = self.verify()
        self.assertEqual(result.returncode, CONFIG)
        self.assertIn("batch.globl: unknown key", result.stderr)

    def test_programs_that_are_none_of_ours_are_refused_with_a_hint(self):
        for program, words in ((("./no/such",), "no program ./no/such"), (("/bin/true",), "must call ddpkit::main"),
                               (("/bin/echo",), "must call ddpkit::main")):
            with self.subTest(program):
                result = self.verify(program=program)
                self.assertEqual((result.returncode, result.stdout), (USAGE, ""))
                self.assertIn(words, result.stderr)
        self.assertIn("print nothing else", self.verify(mode="chatty").stderr)
        self.assertIn("does the program know `probe`", self.verify(mode="old").stderr)

    def test_what_mpirun_refuses_comes_with_a_hint(self):
        self.assertIn("--oversubscribe", self.verify(mpirun=MPIRUN + " --fail-slots").stderr)
        self.assertIn("OMPI_ALLOW_RUN_AS_ROOT=1", self.verify(mpirun=MPIRUN + " --fail-root").stderr)
        result = self.verify(mpirun="no-such-mpirun")
        self.assertEqual(result.returncode, USAGE)
        self.assertIn("no program 'no-such-mpirun' in PATH", result.stderr)

    def test_a_wrong_command_line_ends_with_64(self):
        for options in (("--ranks", "0"), ("--ranks", "two"), ("--steps", "0"), ("--nope",)):
            with self.subTest(options):
                result = self.verify(*options)
                self.assertEqual((result.returncode, result.stdout), (USAGE, ""))
        self.assertEqual(self.verify(program=()).returncode, USAGE)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
