"""Writes a profile: profile.py FILE HOST WHEN [CPU], with a row for each line of standard input:

layer DEVICE PART SHAPE SEQUENCE PASS BATCH SECONDS
link LINK MESSAGE RANKS BYTES SECONDS
fact SUBJECT FACT VALUE

Words with spaces are in quotes. The tables are those of src/profile/profile.h, form 5; CPU is what
rows of CPUs are of.
"""

import shlex
import sqlite3
import sys

KEYS = {
    "layer": ("layers", "device TEXT, part REAL, shape TEXT, sequence INTEGER, pass TEXT, batch INTEGER", "seconds"),
    "link": ("links", "link TEXT, collective TEXT, ranks INTEGER, bytes INTEGER", "seconds"),
    "fact": ("facts", "subject TEXT, fact TEXT", "value"),
}

path, host, when = sys.argv[1:4]
cpu = "".join(sys.argv[4:])
database = sqlite3.connect(path)
database.execute("PRAGMA synchronous = OFF")
database.execute("PRAGMA application_id = 0x796f6b65")
database.execute("PRAGMA user_version = 5")
for table, columns, value in KEYS.values():
    names = ", ".join(column.split()[0] for column in columns.split(", "))
    database.execute(
        f"CREATE TABLE {table} ({columns}, {value} REAL, spread REAL, samples INTEGER, versions TEXT,"
        f" min REAL, max REAL, measured_at INTEGER, host TEXT, cpu TEXT, UNIQUE ({names}, cpu))"
    )
for line in sys.stdin:
    kind, *row = shlex.split(line)
    value = float(row[-1])
    row += [0.02, 9, "test", 0.9 * value, 1.2 * value, int(when), host,
            cpu if row[0].startswith("cpu") or "-cpu" in row[0] else ""]
    database.execute(f"INSERT INTO {KEYS[kind][0]} VALUES ({', '.join('?' * len(row))})", row)
database.commit()
