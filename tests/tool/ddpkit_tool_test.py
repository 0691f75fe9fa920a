"""Runs the command `ddpkit` as a user does. Arguments: the program, the root of the project."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
USAGE, STORAGE, CONFIG = 64, 74, 78


def ddpkit(*arguments, stdout=subprocess.PIPE):
    return subprocess.run([PROGRAM, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=20)


class Command(unittest.TestCase):
    def run_file(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "run.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def test_help_and_version_succeed_and_go_to_standard_output(self):
        for flag in ("--help", "--version"):
            result = ddpkit(flag)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("ddpkit", result.stdout)

    def test_a_wrong_command_line_ends_with_64_and_says_nothing_on_standard_output(self):
        for arguments in ([], ["tarin"], ["schema", "--nope"], ["config", "--config"], ["schema", "extra"]):
            with self.subTest(arguments):
                result = ddpkit(*arguments)
                self.assertEqual((result.returncode, result.stdout), (USAGE, ""))
                self.assertTrue(result.stderr)

    def test_a_bad_configuration_ends_with_78_and_lists_every_error(self):
        path = self.run_file("batch: {globl: 1}\ncomm: {bucket_mib: true}\n")
        result = ddpkit("config", "--json", "--config", path, "--set", "run.seed=x")
        self.assertEqual((result.returncode, result.stdout), (CONFIG, ""))
        self.assertIn(f"{path}:1:9: batch.globl: unknown key", result.stderr)
        self.assertIn(f"{path}:2:20: comm.bucket_mib: expected", result.stderr)
        self.assertIn("--set run.seed=x: run.seed: expected", result.stderr)

    def test_a_file_that_is_not_there_ends_with_74(self):
        result = ddpkit("config", "--config", "/nowhere/run.yaml")
        self.assertEqual(result.returncode, STORAGE)
        self.assertIn("/nowhere/run.yaml", result.stderr)

    def test_output_that_cannot_be_written_ends_with_74(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.assertEqual(ddpkit("schema", stdout=full).returncode, STORAGE)

    def test_config_prints_values_with_their_origins(self):
        path = self.run_file("batch: {global: 512}\n")
        result = ddpkit("config", "--config", path, "--set", "batch.micro=8", "--set", "run.seed=3")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, rf"global: 512 +# {path}:1:17\n")
        self.assertRegex(result.stdout, r"micro: 8 +# --set\n")
        self.assertRegex(result.stdout, r"accumulate: auto +# default\n")

    def test_an_override_with_brackets_reaches_the_loader_whole(self):
        result = ddpkit("config", "--json", "--set", "schedule.decay=multi_step", "--set", "schedule.milestones=[1 epoch, 9 epochs]")
        self.assertEqual(json.loads(result.stdout)["config"]["schedule"]["milestones"], ["1 epoch", "9 epochs"])

    def test_json_is_one_document(self):
        document = json.loads(ddpkit("config", "--json").stdout)
        self.assertEqual(document["config"]["batch"]["global"], 256)
        self.assertEqual(document["origins"]["batch.global"], "default")

    def test_the_schema_is_json_and_accepts_the_defaults(self):
        schema = json.loads(ddpkit("schema").stdout)
        self.assertEqual(schema["$schema"], "http://json-schema.org/draft-07/schema#")
        try:
            import jsonschema
        except ImportError:
            return  # the unit tests validate as well, without this package
        jsonschema.Draft7Validator.check_schema(schema)
        jsonschema.validate(json.loads(ddpkit("config", "--json").stdout)["config"], schema)

    def test_the_options_page_in_the_docs_is_up_to_date(self):
        page = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
        self.assertEqual(page, ddpkit("schema", "--markdown").stdout,
                         "run: ddpkit schema --markdown > docs/reference/options.md")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
