"""Write a made-up track, as a track's organiser has it on the day the runs are in.

`python track.py FOLDER` makes 50 topics, 20,000 short documents, 16 runs of 1000 documents a topic and
the grades of three people for the pool of depth 10. Needs numpy. The same bytes everywhere: all chance is
raw bits of PCG64, all arithmetic is in integers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

LENGTH, DEPTH, FAMILY = 1000, 10, 400
"""Documents a run has for a topic; depth of the pool; documents about one topic's trouble or thing."""

FULL, PART, NAMED, THING = 3, 2, 1, 0
"""What a document gives: what to do; why it happens; only the trouble; only the thing."""

# thing|title of the topic|what is wrong, and in the next line why|what to do about it
TROUBLES = """
tap|dripping tap|the tap drips all night
  the washer inside has gone hard|shut off the water, unscrew the head and put in a new washer
tap|tap without pressure|only a thin stream comes from the tap
  lime has closed the little sieve at its mouth|unscrew the sieve and leave it in vinegar for a night
floorboard|squeaking floorboard|one floorboard squeaks at every step
  the board rubs on a loose nail|find the joist and fix the board to it with a long screw
floorboard|gaps between floorboards|draughts come up between the floorboards
  the wood has shrunk in heated rooms|glue thin strips of wood into the gaps and plane them level
window|window that sticks|the window cannot be opened in wet weather
  the frame has swollen under old paint|plane the edge where it rubs and paint the bare wood
window|draught from a window|the curtain moves though the window is shut
  the seal around it has gone flat|pull out the old seal and press a new one into the groove
door|creaking door|the door creaks so that it wakes the child
  the pins of the hinges are dry|lift the door a little and put grease on each pin
door|door that does not close|the door hits its frame at the top
  the upper hinge hangs loose|fill the screw holes with matches and glue and screw the hinge on again
radiator|cold radiator|the radiator stays cold at the top
  air has gathered in it|open the small valve with its key until water comes
radiator|knocking radiator|the radiator knocks when the heating starts
  it stands without a slope and water stays inside|put a thin wedge under the end away from the valve
drain|slow drain|water stays in the basin for minutes
  hair and soap fill the trap below|put a bucket under the trap, unscrew it and rinse it
drain|smelling drain|the kitchen drain smells after holidays
  the trap has dried out|pour in a litre of water and a spoonful of oil
gutter|overflowing gutter|rain runs over the edge of the gutter
  leaves have closed the outlet|clear the outlet from above and put a basket of wire into it
gutter|leaking gutter joint|water drops from a joint of the gutter
  the rubber in the joint is brittle|open the clip, clean both ends and lay in a new rubber
chair|wobbling chair|the chair wobbles and its legs move
  the old glue in the joints has crumbled|take the joints apart, scrape off the glue and clamp them with new
chair|worn cane seat|the cane of the seat has broken in the middle
  the cane became dry near a stove|soak new cane for an hour and weave it in six steps
bicycle|slow puncture|the tyre of the bicycle is flat every morning
  a tiny hole lets air out|hold the tube under water, mark the bubbles and glue on a patch
bicycle|slipping bicycle chain|the chain jumps when one pedals hard
  chain and sprockets are worn together|measure the chain and change it together with the sprockets
lamp|flickering lamp|the lamp flickers when someone walks by
  a wire is loose at the switch|pull the plug, open the switch and tighten the wire
lamp|lamp shade turned yellow|the paper shade of the lamp is yellow and torn
  the bulb was too hot for it|cut new paper after the old shade and use a cooler bulb
wall|mould on a wall|black spots grow on the wall behind the wardrobe
  damp air cools there|wash the wall with alcohol and move the wardrobe a hand away
wall|hole in a plaster wall|a hole as big as a fist is in the plaster
  someone tore out an old hook|wet the edges, fill the hole in two layers and smooth the second
tile|loose bathroom tile|a tile sounds hollow and moves
  water got behind it|lift the tile, scrape off the old bed and set it in new adhesive
tile|black joints between tiles|the joints between the tiles are black
  soap stays in the rough joints|scratch out the joints and fill them with new grout
kettle|lime in a kettle|white flakes float in the tea
  hard water leaves lime in the kettle|boil water with citric acid, wait an hour and rinse twice
kettle|kettle switches off early|the kettle clicks off before it boils
  lime covers the sensor|clean the steel plate around the sensor with a cloth and vinegar
kitchen knife|blunt kitchen knife|the knife squashes tomatoes
  the edge has become round|draw the edge over a wet stone at a low angle, then over leather
kitchen knife|loose knife handle|the handle of the knife turns
  water has rotted the rivets|drill out the rivets and set new ones of brass with a hammer
coat|stuck zip|the zip of the coat stops half-way
  a thread is caught and the teeth are dry|pull the thread out with tweezers and rub the teeth with a candle
coat|coat that lets rain in|rain comes through the shoulders of the coat
  its coating has been washed off|wash it without softener and iron in new wax
jumper|moth holes in a jumper|the jumper has small holes at the cuff
  moths laid their eggs in it|freeze the jumper for three days, then darn the holes with wool
jumper|shrunken jumper|the jumper came out of the wash too small
  the wool felted in hot water|soak it in lukewarm water with hair balm and pull it flat on a towel
boots|leaking boots|the boots let water in at the toe
  the seam has opened|sew the seam with waxed thread and rub it with grease
boots|squeaking boots|the boots squeak at every step
  a dry insole rubs on leather|lift the insole and dust talc under it
clock|stopped wall clock|the old wall clock stops after an hour
  it does not hang upright|listen to the tick and move the foot of the case until it is even
clock|clock that runs slow|the clock loses five minutes a day
  the weight of the pendulum sits too low|turn the nut below the pendulum once to the right and wait a day
piano|sticking piano key|one key of the piano stays down
  the felt has swollen in damp air|take the key out and press the felt with flat pliers
piano|buzzing piano|the piano buzzes on one note
  something has fallen on the soundboard|take off the lower panel and look with a torch for coins and pins
stove|smoking stove|the stove smokes into the room when it is lit
  the cold chimney has no draught|burn a sheet of newspaper in the upper door first
stove|black glass of a stove|the glass of the stove is black after one evening
  wet wood burns without air|rub the glass with damp paper dipped in ash
roof|slipped roof tile|one tile of the roof has slipped
  the nail has rusted through|lift the tile above it and hang the old one on a copper strip
roof|moss on a roof|moss covers the north side of the roof
  it lies in the shade and stays wet|brush it off dry from above and fix a strip of zinc at the ridge
hedge trimmer|hedge trimmer tears leaves|the trimmer tears twigs instead of cutting
  resin sticks to the blades|clean the blades with alcohol and file each tooth
hedge trimmer|cut cable of a trimmer|the cable of the trimmer was cut
  it lay across the hedge|cut out the damaged piece and fit a coupling that is made for rain
watering can|leaking watering can|the zinc can drips at its seam
  frost has split the seam|brush the seam bright and close it with soft solder
watering can|blocked watering rose|water comes only from half of the rose
  sand and lime fill its holes|open each hole with a pin from inside and rinse it backwards
umbrella|broken umbrella rib|one rib of the umbrella hangs down
  its joint has broken in the wind|bend a splint from a tin, lay it around the rib and press it
umbrella|umbrella that does not open|the umbrella sticks half open
  the spring catch is rusty|put a drop of oil on the catch and work it ten times
glasses|loose arm of glasses|an arm of the glasses flaps
  its little screw has come out|put in the screw with a drop of varnish on its thread
glasses|scratched glasses|the glasses are dull in front of one eye
  sand was wiped over the lens|do not polish it but have the lens changed; rinse before you wipe
"""

OPENINGS = (
    "From the notebook of our repair evening.",
    "A neighbour asked me about this.",
    "We moved in last autumn and found this out soon.",
    "Question from the letters page.",
    "My grandmother's house, third week.",
    "Notes for whoever rents after us.",
    "Heard at the market on Saturday.",
    "This is about a small thing.",
    "Short report of the house committee.",
    "After two winters I can say more about it.",
    "Written down before I forget it.",
    "From the newsletter of the tenants.",
)
CLOSINGS = (
    "It took twenty minutes.",
    "Nobody else in the house had noticed.",
    "More of this next month.",
    "The cat watched all of it.",
    "We had coffee afterwards.",
    "I would not call myself skilled.",
    "Next on the list is the cellar.",
    "My sister took the photographs.",
    "It cost less than a lunch.",
    "The shop was closed, as always on a Monday.",
    "Ask me again in a year.",
    "Thanks to all who wrote.",
)
HELPS = (
    "What to do: {remedy}.",
    "This is how it went: you {remedy}. Anybody can do it.",
    "In the end it was easy. First {remedy}, then try it out.",
    "The caretaker showed me: {remedy}.",
)
HINTS = (
    "The reason is that {cause}. What one does about that I have not found out.",
    "They say that {cause}, so that is where one would have to begin.",
    "It happens because {cause}; a friend has put hers right within an hour.",
)
MENTIONS = (
    "Yes, {wrong}, but that is not what I am writing about.",
    "At present {wrong}, and we live with it.",
    "The last tenant said that {wrong}; we moved the shelves all the same.",
)
ASIDES = (
    "The {thing} was here before we came, and I have grown fond of it.",
    "We looked at another {thing} in a shop and did not buy it.",
    "In the picture you see the {thing} on the left.",
    "I painted everything around the {thing} blue.",
    "Whoever made the {thing} knew the trade.",
)

# name, group, how well it tells relevant documents, noise of its group, its own noise, step of its
# scores (a large one makes ties)
RUNS = (
    ("harbour-words", "harbour", 62, 44, 30, 1),
    ("harbour-words-title", "harbour", 56, 44, 48, 1),
    ("harbour-phrases", "harbour", 58, 44, 40, 20),
    ("harbour-feedback", "harbour", 66, 44, 36, 1),
    ("lindgren-bm25", "lindgren", 60, 52, 26, 40),
    ("lindgren-lm", "lindgren", 52, 52, 34, 1),
    ("lindgren-fused", "lindgren", 64, 48, 24, 1),
    ("moor-dense", "moor", 74, 42, 44, 1),
    ("moor-dense-small", "moor", 60, 42, 60, 1),
    ("moor-reranked", "moor", 92, 34, 30, 2000),
    ("quay-sparse", "quay", 78, 40, 34, 10),
    ("quay-sparse-title", "quay", 66, 44, 46, 10),
    ("quay-mixed", "quay", 84, 38, 30, 10),
    ("student-tfidf", "student", 42, 56, 40, 400),
    ("student-boolean", "student", 30, 42, 60, 9000),
    ("late-reranked", "late", 96, 36, 34, 1),
)

# name, and in how many of 100 cases a person grades 0, 1, 2 what gives FULL, PART, NAMED and THING
JUDGES = {
    "ann": ((2, 16, 82), (42, 54, 4), (95, 5, 0), (99, 1, 0)),
    "ben": ((1, 8, 91), (20, 72, 8), (86, 14, 0), (98, 2, 0)),
    "cleo": ((0, 4, 96), (8, 66, 26), (64, 35, 1), (96, 4, 0)),
}

GUIDELINES = """# Judging guidelines: repairs at home

Judge each document for the topic on the screen alone, by what the document says.

| grade | the document |
| --- | --- |
| 2 | tells what to do, so that one could do it |
| 1 | helps with a part: why it happens, where to begin |
| 0 | does not help, whatever it mentions |

Between two grades take the lower one, unless you can point at the sentence that earns the higher.
"""


@dataclass
class Trouble:
    """What a topic asks about."""

    thing: str
    title: str
    wrong: str
    cause: str
    remedy: str


def bits(seed: int, count: int) -> Integers:
    """Draw numbers from 0 to 2**32 - 1."""
    return (np.random.PCG64(seed).random_raw(count) >> np.uint64(32)).astype(np.int64)


def noise(seed: int, shape: tuple[int, int]) -> Integers:
    """Draw numbers around 0, as from a bell: sums of four bytes."""
    drawn = bits(seed, shape[0] * shape[1])
    four = np.stack([(drawn >> shift) & 255 for shift in (0, 8, 16, 24)])
    summed: Integers = four.sum(axis=0) - 510
    return summed.reshape(shape)


def chooser(seed: int) -> Callable[[Sequence[str]], str]:
    """Give a function that picks one of some texts."""
    drawn = iter(bits(seed, 200_000).tolist())
    return lambda texts: texts[next(drawn) % len(texts)]


def what_documents_give(count: int) -> Integers:
    """Say what each document gives its topic, topic by topic; some topics have many that help, some few."""
    gives = np.full((count, FAMILY), THING)
    for row, share in zip(gives, bits(1, count).tolist(), strict=True):
        full, part, named = 5 + share % 40, 12 + share // 64 % 40, 60
        row[:full] = FULL
        row[full : full + part] = PART
        row[full + part : full + part + named] = NAMED
    return gives


def write_documents(folder: Path, troubles: Sequence[Trouble], gives: Integers, names: Sequence[str]) -> None:
    """Write a text for every document, which says what it gives; docnos tell nothing."""
    pick = chooser(2)
    parts = {FULL: HELPS, PART: HINTS, NAMED: MENTIONS, THING: ASIDES}
    lines = []
    for number, given in enumerate(gives.ravel().tolist()):
        trouble = troubles[number // FAMILY]
        said = [pick(OPENINGS)]
        if given in {FULL, PART}:
            said.append(f"With us {trouble.wrong}.")
        said += [pick(parts[given]), pick(ASIDES), pick(CLOSINGS)]
        text = " ".join(dict.fromkeys(said)).format(**vars(trouble))
        title = f"{pick(('About the', 'Our', 'The', 'Once more the'))} {trouble.thing}"
        lines.append(json.dumps({"docno": names[number], "title": title, "text": text}) + "\n")
    (folder / "documents.jsonl").write_text("".join(sorted(lines)), "utf-8")


def write_topics(folder: Path, topics: Sequence[str], troubles: Sequence[Trouble]) -> None:
    """Write what is asked, and what counts as an answer."""
    lines = [
        json.dumps(
            {
                "topic": topic,
                "title": trouble.title,
                "description": f"What can I do myself if {trouble.wrong}?",
                "narrative": f"Relevant (2) is a document that tells what to do when {trouble.wrong}, so that"
                " one could do it; partially relevant (1) what only tells why it happens or where to start."
                f" Other news of the {trouble.thing} is not relevant (0).",
            }
        )
        for topic, trouble in zip(topics, troubles, strict=True)
    ]
    (folder / "topics.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "guidelines.md").write_text(GUIDELINES, "utf-8")


def write_runs(
    folder: Path, topics: Sequence[str], troubles: Sequence[Trouble], gives: Integers, names: Sequence[str]
) -> list[set[int]]:
    """Rank for every run; return the documents of the pool, topic by topic."""
    total, families = gives.size, len(troubles)
    later = np.argsort(np.argsort([-int(name.split("-")[1]) for name in names]))  # ties: later docno first
    candidates = []
    signals = []
    for own, trouble in enumerate(troubles):
        others = np.setdiff1d(bits(100 + own, 2600) % total, np.arange(own * FAMILY, (own + 1) * FAMILY))
        same_thing = np.array([one.thing == trouble.thing for one in troubles])
        candidates.append(np.concatenate([np.arange(own * FAMILY, (own + 1) * FAMILY), others]))
        near = np.where(same_thing[others // FAMILY], 8, -12)
        signals.append(np.concatenate([np.array([10, 17, 26, 31])[gives[own]], near]))
    shared: dict[str, Integers] = {}
    pool: list[set[int]] = [set() for _ in topics]
    listed = ["file\ttag\tgroup\tcontributes"]
    (folder / "runs").mkdir()
    width = max(map(len, candidates))
    alike = noise(5, (families, width))  # what misleads every run
    hard = 4 + bits(4, families) % 6  # how little the texts of a topic tell
    for number, (tag, group, quality, together, alone, step) in enumerate(RUNS):
        if group not in shared:
            shared[group] = noise(1000 + number, (families, width))
        own_noise = noise(2000 + number, (families, width))
        lines = []
        for row, (topic, found, signal) in enumerate(zip(topics, candidates, signals, strict=True)):
            drawn = 60 * alike[row] + together * shared[group][row] + alone * own_noise[row]
            score = (90 * quality * signal + hard[row] * drawn[: len(found)] + 1_000_000) // step
            best = np.lexsort((later[found], -score))[:LENGTH]
            if group != "late":
                pool[row].update(found[best[:DEPTH]].tolist())
            lines += [
                f"{topic} Q0 {names[document]} {rank} {value // 10_000}.{value % 10_000:04} {tag}\n"
                for rank, (document, value) in enumerate(
                    zip(found[best].tolist(), (score[best] * step).tolist(), strict=True), start=1
                )
            ]
        (folder / "runs" / f"{tag}.run").write_text("".join(lines), "utf-8")
        listed.append(f"runs/{tag}.run\t{tag}\t{group}\t{'no' if group == 'late' else 'yes'}")
    (folder / "runs.tsv").write_text("\n".join(listed) + "\n", "utf-8")
    return pool


def write_judgements(
    folder: Path, topics: Sequence[str], gives: Integers, names: Sequence[str], pool: Sequence[set[int]]
) -> None:
    """Let each person grade the whole pool."""
    (folder / "judgements").mkdir()
    pairs = [(row, document) for row, found in enumerate(pool) for document in sorted(found)]
    for number, (judge, habits) in enumerate(JUDGES.items()):
        lines = []
        chance = (bits(50 + number, len(pairs)) % 100).tolist()
        for (row, document), drawn in zip(pairs, chance, strict=True):
            given = int(gives.flat[document]) if document // FAMILY == row else THING
            zero, one, _ = habits[FULL - given]
            grade = (drawn >= zero) + (drawn >= zero + one)
            lines.append(f"{topics[row]} 0 {names[document]} {grade}\n")
        (folder / "judgements" / f"{judge}.qrels").write_text("".join(lines), "utf-8")


def main(folder: Path) -> None:
    """Write everything into a new folder."""
    troubles = [Trouble(*line.split("|")) for line in TROUBLES.strip().replace("\n  ", "|").splitlines()]
    topics = [f"R{number:02}" for number in range(1, len(troubles) + 1)]
    gives = what_documents_give(len(troubles))
    names = [f"HOME-{number:05}" for number in np.argsort(bits(3, gives.size), kind="stable").tolist()]
    folder.mkdir(parents=True)
    write_topics(folder, topics, troubles)
    write_documents(folder, troubles, gives, names)
    pool = write_runs(folder, topics, troubles, gives, names)
    write_judgements(folder, topics, gives, names, pool)
    print(  # noqa: T201 - a script of its own
        f"{folder}: {len(topics)} topics, {gives.size} documents, {len(RUNS)} runs,"
        f" grades of {len(JUDGES)} people for {sum(map(len, pool))} documents"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2 or Path(sys.argv[1]).exists():
        sys.exit("usage: python track.py FOLDER, which must not exist yet")
    main(Path(sys.argv[1]))
