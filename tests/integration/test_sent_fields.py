"""Ranks of hpcprof-mpi send each other what they have read of measurement files: every field of it, but for time lines."""
import re
import unittest

from profiling import ROOT

# How hpcprof/team/packed-measurement.c calls a structure of lib/measurement.h.
NAMES = {
    "measurement": "m->",
    "measurement_agent": "agent->",
    "measurement_code_name": "code_names.at[i].",
    "measurement_event": "event->",
    "measurement_mark": "marks.at[i].",
    "measurement_metric": "metric->",
    "measurement_metric_state": "metric_states.at[i].",
    "measurement_name": "names.at[k].",
    "measurement_name_table": "table->",
    "measurement_process": "process->",
    "measurement_refusal": "refusals.at[i].",
    "measurement_region": "region->",
    "measurement_thread": "thread->",
}
# Without pointers, but for the module's two.
SENT_WHOLE = {"measurement_fate", "measurement_join", "measurement_module", "measurement_node", "measurement_process_clock",
              "measurement_value", "measurement_worker_change"}
# The rank that has read a file writes its time lines.
OF_TIME_LINES = {"measurement_trace_record", "measurement_wake_up"}
FIELDS_OF_TIME_LINES = {"trace", "trace_event", "trace_step", "wake_ups", "lost_wake_ups", "wake_up_step", "wake_up_window"}
# All ranks read the lists of processes.
FIELDS_OF_LISTS = {"listed"}


def structures():
    """The names of the fields of each structure that measurements consist of."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "lib/measurement.h").read_text(), flags=re.S)
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.S | re.M):
        if name not in ("measurement_last", "measurement_files"):
            yield name, re.findall(r"(\w+)(?=\s*[,;])", re.sub(r"VEC\([^)]*\)", "", body))


class SentFields(unittest.TestCase):
    def test_every_field_is_sent(self):
        code = (ROOT / "hpcprof/team/packed-measurement.c").read_text()
        found = dict(structures())
        self.assertEqual(set(found), set(NAMES) | SENT_WHOLE | OF_TIME_LINES)
        missing = [f"{name}.{field}" for name, called in NAMES.items() for field in found[name]
                   if field not in FIELDS_OF_LISTS and not re.search(re.escape(called + field) + r"\b", code)]
        self.assertEqual(missing, [f"measurement_thread.{field}" for field in found["measurement_thread"]
                                   if field in FIELDS_OF_TIME_LINES])


if __name__ == "__main__":
    unittest.main()
