"""Topic files as tracks publish them: a small file a form, each in words of its own; what attacks is refused.

What each must give is what its track says its topic is: the id that its qrels have, the query or title,
description, narrative, and under its own name what else a judge of the track was told.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest

from store.errors import FormatError
from store.formats.topics import read_topics
from store.records import Topic

FORMS: dict[str, tuple[str, list[Topic]]] = {
    "TREC-1 ad hoc": (
        "<top>\n<head> Tipster Topic Description\n<num> Number:  051\n<dom> Domain: Trade\n"
        "<title> Topic:  Cheese Duties\n<desc> Description:\nDuties on cheese.\n<smry> Summary:\nDuties.\n"
        "<narr> Narrative:\nNames a duty.\n<con> Concept(s):\n1. cheddar\n2. gouda\n"
        "<fac> Factor(s):\n<nat> Nationality: Swiss\n</fac>\n<def> Definition(s):\nDuty: a tax.\n</top>\n",
        [
            Topic(
                "051",
                "Cheese Duties",
                "Duties on cheese.",
                "Names a duty.\nDomain: Trade\nSummary: Duties.\nConcept(s): 1. cheddar 2. gouda\n"
                "Factor(s): Nationality: Swiss\nDefinition(s): Duty: a tax.",
            )
        ],
    ),
    "TREC-4 without titles": (
        "<top>\n<num> Number: 202\n<desc> Description:\nHow are bees\ncounted?\n</top>\n",
        [Topic("202", "", "How are bees counted?")],
    ),
    "TREC-8 ad hoc": (
        "<top>\n\n<num> Number: 401 \n<title> wild bees\n\n<desc> Description: \nWhere do they nest?\n\n"
        "<narr> Narrative: \nA nest is named.\n\n</top>\n\n<top>\n<num> Number: 402\n<title> wasps\n</top>\n",
        [Topic("401", "wild bees", "Where do they nest?", "A nest is named."), Topic("402", "wasps")],
    ),
    "Robust": (
        "<top>\n<num> Number: 672\n<title>\nbee sting help\n<desc> Description:\nWhat helps?\n"
        "<narr> Narrative:\nBut not: <i>folklore</i>, or < 5 lines.\n</top>",
        [Topic("672", "bee sting help", "What helps?", "But not: folklore, or < 5 lines.")],
    ),
    "Common Core in XML": (
        "<?xml version='1.0'?>\n<topics>\n<top>\n<num>321</num>\n<title>bee law</title>\n<desc>Laws?</desc>\n"
        "<narr>Any law.</narr>\n</top>\n</topics>\n",
        [Topic("321", "bee law", "Laws?", "Any law.")],
    ),
    "Web named pages": (
        "<top>\n<num> Number: NP1\n<desc> Description:\nbee board\n</top>",
        [Topic("NP1", "", "bee board")],
    ),
    "Terabyte": (
        "\n<top>\n<num> Number: 701\n<title> bee counts\n<desc> Description:\nCounts?\n</top>\n",
        [Topic("701", "bee counts", "Counts?")],
    ),
    "Terabyte efficiency": (
        "1:bee hives\n2:what: a hive?\n",
        [Topic("1", "bee hives"), Topic("2", "what: a hive?")],
    ),
    "Million Query 2007": (
        "1:after the bees\n10:bee, wasp\n",
        [Topic("1", "after the bees"), Topic("10", "bee, wasp")],
    ),
    "Million Query 2009": (
        "20001:1:bee keeper\n20002:4:queen\n",
        [Topic("20001", "bee keeper"), Topic("20002", "queen")],
    ),
    "Web track": (
        '<webtrack>\n<topic number="1" type="faceted">\n<query>bees</query>\n'
        "<description>About bees.\n</description>\n"
        '<subtopic number="1" type="nav">Find the\nbee board.</subtopic>\n'
        '<subtopic number="2" type="inf">How do bees fly?</subtopic>\n</topic>\n</webtrack>\n',
        [
            Topic(
                "1",
                "bees",
                "About bees.",
                "type: faceted\nsubtopic 1 nav: Find the bee board.\nsubtopic 2 inf: How do bees fly?",
            )
        ],
    ),
    "Session and Tasks in nested XML": (
        "<topics><topic num='7'><query>bees</query><keys><key>hive</key><key>wax</key></keys></topic>"
        "</topics>",
        [Topic("7", "bees", "", "keys: hive; wax")],
    ),
    "Microblog 2011": (
        "<top>\n<num> Number: MB001 </num>\n<title> bee news </title>\n"
        "<querytime> Tue Feb 08 2011 </querytime>\n"
        "<querytweettime> 3495 </querytweettime>\n</top>\n",
        [Topic("MB001", "bee news", "", "querytime: Tue Feb 08 2011\nquerytweettime: 3495")],
    ),
    "Microblog 2013": (
        "<top>\n<num> Number: MB111 </num>\n<query> bee shortages </query>\n</top>\n\n"
        "<top>\n<num> Number: MB112 </num>\n<query> wax </query>\n</top>\n",
        [Topic("MB111", "bee shortages"), Topic("MB112", "wax")],
    ),
    "News background linking 2018": (
        "<top>\n<num> Number: 321 </num>\n<docid>9171de</docid>\n<url>https://n.example/a?b=1&c=2</url>\n</top>\n",
        [Topic("321", "", "", "docid: 9171de\nurl: https://n.example/a?b=1&c=2")],
    ),
    "News background linking 2020": (
        "<top>\n<num> Number: 886 </num>\n<docid>AEQZ</docid>\n<title>Bee law</title>\n"
        "<desc>What law?</desc>\n"
        '<narr>Any.</narr>\n<subtopics>\n<sub num="1">fines</sub>\n<sub num="2">hives</sub>\n'
        "</subtopics>\n</top>",
        [Topic("886", "Bee law", "What law?", "Any.\ndocid: AEQZ\nsubtopics: fines; hives")],
    ),
    "Genomics 2004": (
        "<TOPICS>\n<TOPIC>\n<ID>51</ID>\n<TITLE>bee gene</TITLE>\n<NEED>Find it.</NEED>\n"
        "<CONTEXT>Genes.</CONTEXT>\n"
        "</TOPIC>\n</TOPICS>",
        [Topic("51", "bee gene", "", "NEED: Find it.\nCONTEXT: Genes.")],
    ),
    "Genomics 2006": (
        "<160>What do bees do?\n<161>Why?\n",
        [Topic("160", "What do bees do?"), Topic("161", "Why?")],
    ),
    "Clinical Decision Support": (
        '<topics task="CDS">\n<topic number="1" type="diagnosis">\n'
        "<description>A man of 58, stung.</description>\n"
        "<summary>Stung.</summary>\n</topic>\n</topics>",
        [Topic("1", "", "A man of 58, stung.", "type: diagnosis\nsummary: Stung.")],
    ),
    "Precision Medicine": (
        '<topics><topic number="1"><disease>Hives</disease><gene>ABC (x&lt;2)</gene><other/></topic>'
        "</topics>",
        [Topic("1", "", "", "disease: Hives\ngene: ABC (x<2)")],
    ),
    "Clinical Trials 2021": (
        '<topics task="CT">\n<topic number="1">\nA man,\nstung.\n</topic>\n</topics>',
        [Topic("1", "A man, stung.")],
    ),
    "Clinical Trials 2023": (
        '<topics>\n<topic number="1" template="stings">\n<field name="how many">3</field>\n'
        "</topic>\n</topics>",
        [Topic("1", "", "", "template: stings\nfield how many: 3")],
    ),
    "Health Misinformation": (
        "<topics>\n<topic>\n<number>101</number>\n<query>honey cough</query>\n"
        "<description>Does it?</description>\n"
        "<narrative>Any.</narrative>\n<stance>helpful</stance>\n</topic>\n</topics>",
        [Topic("101", "honey cough", "Does it?", "Any.\nstance: helpful")],
    ),
    "TREC-COVID": (
        '<topics batch="1">\r\n<topic number="1">\r\n<query>bee virus</query>\r\n'
        "<question>which?</question>\r\n"
        "<narrative>any virus</narrative>\r\n</topic>\r\n</topics>\r\n",
        [Topic("1", "bee virus", "which?", "any virus")],
    ),
    "Deep Learning": (
        "264014\thow long do bees live?\n104861\tcost, of honey\n",
        [Topic("264014", "how long do bees live?"), Topic("104861", "cost, of honey")],
    ),
    "RAG 2024": ("2024-105741\tare bees well?\n", [Topic("2024-105741", "are bees well?")]),
    "RAG in JSON lines": ('{"qid": "r1", "query": "are bees well?"}\n', [Topic("r1", "are bees well?")]),
    "RAG 2025": ('{"id": 14, "title": "How bees fare, and why"}\n', [Topic("14", "How bees fare, and why")]),
    "NeuCLIR": (
        '{"topic_id": "101", "languages_with_qrels": ["zho"], "topics": [{"lang": "zho", '
        '"topic_title": "蜂"},'
        ' {"lang": "eng", "topic_title": "bees", "topic_description": "About bees"}]}\n',
        [Topic("101", "bees", "About bees")],
    ),
    "RAGTIME requests": (
        '{"request_id": "300", "title": "bees", "background": "I keep bees.", "limit": 2000}\n',
        [Topic("300", "bees", "", "background: I keep bees.")],
    ),
    "BioGen in one object": (
        '{"topics": [\n  {"id": "116", "topic": "bee stings", "question": "Do they hurt?"},\n'
        '  {"id": "117", "topic": "honey"}\n]}\n',
        [Topic("116", "bee stings", "Do they hurt?"), Topic("117", "honey")],
    ),
    "Tip of the Tongue": (
        '{"id": "t1", "title": "bee film", "text": "I saw a film ...", "domain": "film"}\n',
        [Topic("t1", "bee film", "I saw a film ...", "domain: film")],
    ),
    "BEIR": (
        '{"_id": "q1", "text": "bees", "metadata": {"url": "u", "query_id": "9"}}\n',
        [Topic("9", "bees", "", "_id: q1")],
    ),
    "CLEF ad hoc": (
        "<top>\n<num> C041 </num>\n<EN-title> Bees in Food </EN-title>\n<EN-desc> Find bees.\n</EN-desc>\n"
        "<EN-narr> Any. </EN-narr>\n</top>\n",
        [Topic("C041", "Bees in Food", "Find bees.", "Any.")],
    ),
    "CLEF ad hoc in two languages": (
        "<top><num>C1</num><EN-title>Bees</EN-title><DE-title>Bienen</DE-title></top>",
        [Topic("C1", "Bees", "", "DE-title: Bienen")],
    ),
    "CLEF 2008": (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<topics>\n <topic lang="en">\n'
        "  <identifier>10.2452/451-AH</identifier>\n  <title>Bees</title>\n"
        "  <description>Find.</description>\n"
        "  <narrative>Any.</narrative>\n </topic>\n</topics>",
        [Topic("10.2452/451-AH", "Bees", "Find.", "Any.")],
    ),
    "CLEF eHealth 2014": (
        "<topics>\n<topic>\n<id>q14.1</id>\n<title>Sting</title>\n<desc>Helps?</desc>\n"
        "<profile>A man.</profile>\n"
        "<narr>Any</narr>\n</topic></topics>",
        [Topic("q14.1", "Sting", "Helps?", "Any\nprofile: A man.")],
    ),
    "CLEF eHealth 2015": (
        "<topics>\n<top>\n<num>clef2015.1</num>\n<query>red sting</query>\n</top>\n</topics>",
        [Topic("clef2015.1", "red sting")],
    ),
    "CLEF eHealth 2018": (
        "<queries>\n<query>\n<id> 151001 </id>\n<title> stings </title>\n</query>\n</queries>",
        [Topic("151001", "stings")],
    ),
    "CLEF CheckThat": (
        'tweet_id\ttweet_content\n9\tBees are gone "all" of them\n',
        [Topic("9", 'Bees are gone "all" of them')],
    ),
    "CLEF Touche with a document type": (
        "<?xml version='1.0'?>\n<!DOCTYPE topics [\n<!-- ]> -->\n<!ELEMENT topics (topic*)>\n"
        "<!ATTLIST topic number CDATA #REQUIRED>\n]>\n"
        "<topics><topic><number>1</number><title>Bees?</title></topic></topics>",
        [Topic("1", "Bees?")],
    ),
    "INEX": (
        "<!DOCTYPE inex_topic>\n"
        '<inex_topic topic_id="544"><title>bees</title><castitle>//a[b > 1]</castitle></inex_topic>',
        [Topic("544", "bees", "", "castitle: //a[b > 1]")],
    ),
    "FIRE": (
        "<?xml version='1.0' encoding='UTF-8'?>\n<topics>\n<top lang='hi'>\n<num>26</num>\n"
        "<title>मधुमक्खी</title>\n"
        "<desc>क्या?</desc>\n<narr>कोई</narr>\n</top>\n</topics>",
        [Topic("26", "मधुमक्खी", "क्या?", "कोई")],
    ),
    "NTCIR-1": (
        "<TOPIC q=0031>\n<TITLE>\n蜂\n</TITLE>\n<DESCRIPTION>\n蜂の巣\n</DESCRIPTION>\n<NARRATIVE>\n巣\n"
        "</NARRATIVE>\n</TOPIC>\n"
        "<TOPIC q=0032>\n<TITLE>\n蜜\n</TITLE>\n</TOPIC>\n",
        [Topic("0031", "蜂", "蜂の巣", "巣"), Topic("0032", "蜜")],
    ),
    "NTCIR CLIR": (
        "<TOPIC>\n<NUM>001</NUM>\n<SLANG>CH</SLANG>\n<TITLE>Bees</TITLE>\n<DESC>Find.</DESC>\n"
        "<NARR>\n<BACK>They fly.</BACK>\n<REL>Any.</REL>\n</NARR>\n<CONC>hive, wax</CONC>\n</TOPIC>\n"
        "<TOPIC>\n<NUM>002</NUM>\n<TITLE>Wax</TITLE>\n</TOPIC>\n",
        [Topic("001", "Bees", "Find.", "They fly. Any.\nSLANG: CH\nCONC: hive, wax"), Topic("002", "Wax")],
    ),
    "NTCIR GeoTime": (
        '<TOPIC ID="G-1">\n<DESCRIPTION LANG="EN">When?</DESCRIPTION>\n'
        '<DESCRIPTION LANG="JA">いつ</DESCRIPTION>\n</TOPIC>',
        [Topic("G-1", "", "When?", "DESCRIPTION JA: いつ")],
    ),
    "NTCIR WWW": (
        "<queries>\n<query>\n<qid>0001</qid>\n<content>bee picture</content>\n"
        "<description>A bee.</description>\n</query>\n"
        "</queries>",
        [Topic("0001", "bee picture", "A bee.")],
    ),
    "NTCIR Data Search": ("DS1-E-0001\tbee counts 2015\n", [Topic("DS1-E-0001", "bee counts 2015")]),
    "Indri parameters": (
        "<parameters>\n<query>\n<number>1</number>\n<text>#combine( bees )</text>\n</query>\n</parameters>",
        [Topic("1", "#combine( bees )")],
    ),
    "CDATA and comments": (
        "<topics><!-- <topic number='9'>\n</topic> -->\n"
        "<topic number='1'><title><![CDATA[a <b> & c]]></title></topic></topics>",
        [Topic("1", "a <b> & c")],
    ),
    "topics by attributes": (
        '<topics><topic number="1" title="a &amp; b"/><topic number="2" title="c"/></topics>',
        [Topic("1", "a & b"), Topic("2", "c")],
    ),
    "CSV of a search team": (
        'query_id,query\nq1,"red shoes, size 40"\nq2,hat\n',
        [Topic("q1", "red shoes, size 40"), Topic("q2", "hat")],
    ),
    "CSV of a spreadsheet": (
        "\ufeffID;Title;Narrative;Owner\r\n1;shoes;Red ones.;Ann\r\n2;hats;;\r\n",
        [Topic("1", "shoes", "", "Red ones.\nOwner: Ann"), Topic("2", "hats")],
    ),
    "CSV with the id behind": ("text,number,description\nshoes,7,red\n", [Topic("7", "shoes", "red")]),
    "TSV with a column of its own": (
        "qid\tlanguage\tquery\n7\ten\tshoes\n",
        [Topic("7", "shoes", "", "language: en")],
    ),
    "JSON list": (
        '[{"id": "1", "query": "a"},\n {"id": "2", "query": "b", "n": [3]}]',
        [Topic("1", "a"), Topic("2", "b")],
    ),
}


@pytest.mark.parametrize(("text", "topics"), FORMS.values(), ids=FORMS)
def test_topics_of_a_track_are_read(tmp_path: Path, text: str, topics: list[Topic]) -> None:
    """Without a word about its form, a file gives the topics that its track had."""
    file = tmp_path / "topics"
    file.write_text(text, "utf-8", newline="")
    assert read_topics(str(file)) == topics


BOMB = (
    "<!DOCTYPE t [\n<!ENTITY a 'ha'>\n<!ENTITY b '&a;&a;&a;&a;'>\n]>\n"
    "<topic number='1'><title>&b;</title></topic>"
)
STOLEN = (
    "<!DOCTYPE t [\n<!ENTITY a SYSTEM 'file:///etc/passwd'>]>\n<topic number='1'><title>&a;</title></topic>"
)
PARAMETER = "<!DOCTYPE t [\n\n<!ENTITY % a SYSTEM 'http://a.example/b'> %a;]>\n<topic number='1'>x</topic>"
OUTSIDE = "<!DOCTYPE t\n SYSTEM 'http://a.example/t.dtd'>\n<topic number='1'><title>x</title></topic>"
PUBLIC = (
    '<?xml version="1.0"?>\n<!DOCTYPE t PUBLIC "-//A//B" "b.dtd" [<!ELEMENT t ANY>]>\n<topic id="1">x</topic>'
)


@pytest.mark.parametrize(
    ("text", "line", "code", "words"),
    [
        (BOMB, 2, "entity", "expected a file without entities of its own, got '<!ENTITY a'"),
        (STOLEN, 2, "entity", "got '<!ENTITY a'"),
        (PARAMETER, 3, "entity", "got '<!ENTITY % a'"),
        (f"<top><num>1<title>x</top>\n{BOMB}", 3, "entity", "got '<!ENTITY a'"),
        (OUTSIDE, 2, "doctype", "expected a document type without another file, got \"SYSTEM 'http://a.exam"),
        (PUBLIC, 2, "doctype", 'got \'PUBLIC "-//A//B"'),
        (OUTSIDE.lower(), 2, "doctype", "got \"system 'http://a.exam"),
        (
            f"<!DOCTYPE t>\n<topic number='2'>y</topic>\n{OUTSIDE}",
            4,
            "doctype",
            "got \"SYSTEM 'http://a.exam",
        ),
        ("<!DOCTYPE t [<!ELEMENT t ANY>\n<topic id='1'>x</topic>", 1, "doctype", "without `>`"),
    ],
    ids=["bomb", "external", "parameter", "behind", "SYSTEM", "PUBLIC", "lower", "second", "open"],
)
def test_entities_and_other_files_are_refused(
    tmp_path: Path, text: str, line: int, code: str, words: str
) -> None:
    """What a declaration could blow up or fetch is neither read nor left out in silence."""
    file = tmp_path / "topics"
    file.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_topics(str(file))
    assert [(fault.line, fault.code) for fault in caught.value.faults] == [(line, code)]
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "<top " + "a" * 300_000,
        "<top><num>1<title>" + "<a" * 150_000,
        "<!--" * 100_000,
        "<!DOCTYPE a [" * 30_000,
        "<topic number='1'>" + "<x>" * 100_000 + "</topic>",
        "<topic id=1>" + "<x>a</x>" * 50_000 + "</topic>",
        "[" * 300_000,
        "1:" + " " * 300_000,
        "a,b\n" + '"' * 300_001,
    ],
)
def test_hostile_files_cost_time_in_proportion(tmp_path: Path, text: str) -> None:
    """No file of a third of a megabyte takes seconds, whatever it repeats; a square would take minutes."""
    file = tmp_path / "topics"
    file.write_text(text)
    start = time.process_time()
    with suppress(FormatError):
        read_topics(str(file))
    assert time.process_time() - start < 5


def test_what_is_no_text_is_left_out_and_told_once(tmp_path: Path) -> None:
    """Lists and objects of JSON are named with the number of topics that have them."""
    file = tmp_path / "topics"
    file.write_text('{"id": 1, "title": "a", "docs": [1]}\n{"id": 2, "title": "b", "docs": [], "x": {}}\n')
    told: list[str] = []
    assert read_topics(str(file), tell=told.append) == [Topic("1", "a"), Topic("2", "b")]
    assert told == ["left out, as it is no text: docs (2), x (1)"]
