"""Steps and their peers, for Benchmarks/score: counts against truth, false steps, recordings altered."""
import csv, gzip, importlib, io, json, os, subprocess, sys

import numpy as np

PLACEMENTS = {"Swinging": "swing", "FrontPocket": "pockets and phoning", "BackPocket": "pockets and phoning",
              "Phoning": "pockets and phoning", "RunningHand": "running", "RunningPocket": "running"}
WALKERS = {"Thibaud": "T", "Guillaume": "G"}


def load(path):
    with gzip.open(path) as f:
        return f.read()


def table(data):
    """t, force (rows without a new force left out)."""
    rows = np.genfromtxt(io.BytesIO(data), delimiter=",", skip_header=1, usecols=(0, 1, 2, 3))
    return rows[np.isfinite(rows).all(axis=1)]


def product(runner, mode):
    def steps(data):
        out = subprocess.run([runner, mode], input=data, stdout=subprocess.PIPE, check=True).stdout.decode()
        times = [float(line.split(",")[0]) for line in out.splitlines()[1:]]
        return np.array(times[:-1])  # the last row is the end of the recording
    return steps


def naive(data):
    """|a| band-passed 0.75-3 Hz, peaks over 0.6 m/s2 at least 0.3 s apart; sees the whole file."""
    from scipy.signal import butter, find_peaks, sosfiltfilt
    t, *force = table(data).T
    grid = np.arange(t[0], t[-1], 0.01)
    norm = np.interp(grid, t, np.sqrt(sum(f * f for f in force)))
    x = sosfiltfilt(butter(2, [0.75, 3], "bandpass", fs=100, output="sos"), norm - norm.mean())
    return grid[find_peaks(x, height=0.6, distance=30)[0]]


def oak(data):
    """beiwe-forest's oak with its default settings: a cadence for each second; sees the whole file."""
    base = importlib.import_module("forest.oak.base")
    t, x, y, z = table(data).T
    magnitude = np.sqrt(x * x + y * y + z * z)
    if np.median(magnitude) < 6.5:  # gravity taken off already: oak wants it
        z = z + 9.81
    t_bout, bout = base.preprocess_bout(t + 1_600_000_000, x / 9.80665, y / 9.80665, z / 9.80665)
    if len(bout) == 0:
        return np.array([])
    cadence = np.array(base.find_walking(bout), dtype=float)
    # Each second of cadence becomes its steps, spread evenly; fractions carry over.
    total = np.concatenate([[0], np.cumsum(np.where(np.isfinite(cadence), cadence, 0))])
    seconds = t_bout[0] - 1_600_000_000 + np.arange(len(total))
    return np.interp(np.arange(1, int(round(total[-1])) + 1), total, seconds) if total[-1] >= 1 else np.array([])


def alterations():
    """The recordings altered as a worse device would give them; each from (rows, random) to rows."""
    def rate(hz):
        def change(rows, random):
            grid = np.arange(rows[0, 0], rows[-1, 0], 1 / hz)
            return np.column_stack([grid] + [np.interp(grid, rows[:, 0], c) for c in rows[:, 1:].T])
        return change

    def rotated(rows, random):
        q, _ = np.linalg.qr(random.normal(size=(3, 3)))
        return np.column_stack([rows[:, 0], rows[:, 1:] @ q])

    def column(change):
        return lambda rows, random: np.column_stack([rows[:, 0], change(rows[:, 1:], random)])

    return {
        "25 Hz": rate(25), "50 Hz": rate(50), "200 Hz": rate(200), "400 Hz": rate(400),
        "30 % dropped": lambda rows, random: rows[random.random(len(rows)) > 0.3],
        "jitter 4 ms": lambda rows, random: np.column_stack(
            [np.sort(rows[:, 0] + random.normal(0, 0.004, len(rows))), rows[:, 1:]]),
        "holes 0.2 s": lambda rows, random: rows[rows[:, 0] % 5 > 0.2],
        "noise 0.3": column(lambda a, random: a + random.normal(0, 0.3, a.shape)),
        "clipped 2 g": column(lambda a, random: np.clip(a, -19.6, 19.6)),
        "quantised 0.15": column(lambda a, random: np.round(a / 0.15) * 0.15),
        "rotated": rotated,
    }


def as_csv(rows):
    out = io.StringIO()
    out.write("t_s,ax,ay,az,gx,gy,gz,mx,my,mz,p_pa\n")
    for r in rows:
        out.write("%.6f,%.4f,%.4f,%.4f,,,,,,,\n" % tuple(r))
    return out.getvalue().encode()


def summary(errors):
    e = np.abs(errors)
    beyond = f", {np.sum(e > 20)} above 20" if np.any(e > 20) else ""
    return f"{e.mean():7.2f} (worst {e.max():5.1f}, n {len(e)}{beyond})"


def group_of(name, entry):
    """The table's line for a walk: its data set, or the placement of a simulated one."""
    if entry.get("source", "").startswith("sim:"):
        return f"simulated walkers, {entry['kind']}"
    return {"ox": "Oxford 24", "oxv": "Oxford validation", "mob": "lumbar"}.get(name.split("_")[0], name)


def run(setdir, runner, peers=True, perturbed=True):
    counters = {"MotionKit": product(runner, "steps"), "MotionKit, no gyro": product(runner, "steps-accelerometer"),
                "MotionKit strict": product(runner, "steps-strict"),
                "strict, no gyro": product(runner, "steps-accelerometer-strict")}
    if peers:
        counters["naive"] = naive
        try:
            importlib.import_module("forest.oak.base")
            counters["oak"] = oak
        except ImportError:
            print("oak (beiwe-forest) cannot be imported and is left out", file=sys.stderr)
    with open(os.path.join(setdir, "manifest.json")) as f:
        manifest = json.load(f)
    pseudo_path = os.path.join(setdir, "steps_pseudo", "steps_pseudo.json")
    pseudo = {}
    if os.path.exists(pseudo_path):
        with open(pseudo_path) as f:
            pseudo = json.load(f)
    groups = {}
    altered = {}
    random = np.random.default_rng(1)
    for name, entry in sorted(manifest.get("steps", {}).items()):
        data = load(os.path.join(setdir, "steps", name + ".imu.csv.gz"))
        group = group_of(name, entry)
        for peer, counter in counters.items():
            n = len(counter(data))
            groups.setdefault(group, {}).setdefault(peer, []).append(100 * (n - entry["true"]) / entry["true"])
        if perturbed and group in ("Oxford 24", "Oxford validation", "lumbar"):
            rows = table(data)
            for label, change in alterations().items():
                n = len(counters["MotionKit, no gyro"](as_csv(change(rows, random))))
                altered.setdefault(label, {}).setdefault(group, []).append(100 * (n - entry["true"]) / entry["true"])
    for name, entry in sorted(manifest.get("attitude", {}).items()):
        data = None
        if entry["set"] in ("broad", "hand"):
            data = load(os.path.join(setdir, "attitude", name + ".imu.csv.gz"))
            is_simulated = entry["set"] == "hand"
            lines = ["simulated hand motion, false steps/min", f"  of these, {entry['key']}"] if is_simulated else [
                "hand motion, false steps/min"]
            for peer, counter in counters.items():
                rate = 60 * len(counter(data)) / entry["dur_s"]
                for line in lines:
                    groups.setdefault(line, {}).setdefault(peer, []).append(rate)
        elif name in pseudo:
            truth = pseudo[name]
            parts = name.split("_")
            walker = WALKERS.get(parts[1], parts[1])
            placement = PLACEMENTS.get(parts[-1], parts[-1])
            group = f"phones, {placement} {walker}" if truth["reliable"] else f"upper bound, {parts[-1]} {walker}"
            data = load(os.path.join(setdir, "attitude", name + ".imu.csv.gz"))
            for peer, counter in counters.items():
                t = counter(data)
                n = np.sum((t >= truth["from_s"]) & (t <= truth["to_s"]))
                groups.setdefault(group, {}).setdefault(peer, []).append(100 * (n - truth["count"]) / truth["count"])
    print("mean absolute count error in %, or false steps a minute")
    for group, results in groups.items():
        print(group)
        for peer, errors in results.items():
            print(f"  {peer:22}{summary(errors)}")
    if altered:
        print("altered recordings, accelerometer only")
        for label, results in altered.items():
            print(f"  {label:16}" + "".join(f"{g}: {summary(e)}   " for g, e in results.items()))
