"""Measures everything that docs/benchmarks.md shows, and writes that page and its plots.

    records.py    what the programs print, gathered into figures
    measuring.py  runs the programs, one at a time
    machine.py    where and from what the figures come
    text.py       numbers and sizes as text, and the pieces of a page
    bars.py       what the library promises of its speed and size, as ratios
    plots.py      the plots
    page.py       the page; contest.py has the sections with the contenders
"""
