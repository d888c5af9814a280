"""The ratios as a picture: a row for each kernel, a mark for each peer, on a logarithmic axis."""

from __future__ import annotations

from pathlib import Path

from .peers import OURS
from .report import Result, geometric_means


def draw(results: list[Result], folder: Path) -> list[Path]:
    """Writes `kernels.png` and `kernels.svg`. ImportError without matplotlib, which the `bench` extra installs."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "tinct"
    from matplotlib import pyplot as plt

    means = geometric_means(results)
    peers = [peer for peer in means if peer != OURS]
    figure, axes = plt.subplots(figsize=(9, 1.2 + 0.32 * (len(results) + 1)), layout="constrained")
    labels = [*(result.name for result in results), "geometric mean"]
    for number, peer in enumerate(peers):
        ratios = [next((result.ratio(m) for m in result.measurements if m.peer == peer), None) for result in results]
        points = [(ratio, row) for row, ratio in enumerate([*ratios, means[peer][0]]) if ratio is not None]
        marker = "osD^vP*X<>"[number % 10]
        across, down = zip(*points, strict=True)
        axes.scatter(across, down, label=peer, marker=marker, s=34, zorder=3)
    axes.axvline(1, color="black", linewidth=1)
    axes.axhline(len(results) - 0.5, color="grey", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.grid(axis="x", which="both", alpha=0.25)
    axes.set_xlabel(f"time relative to {OURS}, logarithmic (right of the line: slower than {OURS})")
    figure.legend(loc="outside upper center", ncols=5, frameon=False)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"kernels.{kind}" for kind in ("png", "svg")]
    for path in paths:
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)
    return paths
