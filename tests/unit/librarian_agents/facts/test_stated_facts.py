"""Facts read off a message, and messages that state none."""

import json
from pathlib import Path

import pytest

from librarian_agents.facts.stated import ACCEPTED_FROM, stated_facts

WORLDS = Path(__file__).parents[4] / "training" / "fact_worlds"


def told(text: str, author: str = "Ines") -> list[tuple[str, str, str]]:
    """Return subject, predicate and object of what a text states."""
    return [(fact.subject, fact.predicate, fact.object) for fact in stated_facts(text, author)]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("We moved to Porto last month.", ("Ines", "lives in", "Porto")),
        ("Heads up, deploys are on Thursdays now.", ("deploys", "are scheduled on", "Thursdays")),
        ("Deploys moved to Tuesdays.", ("deploys", "are scheduled on", "Tuesdays")),
        ("My sister's name is Mika.", ("Ines's sister", "is named", "Mika")),
        ("I'm allergic to shellfish.", ("Ines", "is allergic to", "shellfish")),
        ("We switched from Jenkins to Buildkite.", ("Ines", "uses", "Buildkite")),
        ("The ten-visit card costs 120 francs.", ("ten-visit card", "costs", "120 francs")),
        ("I don't drink alcohol.", ("Ines", "does not drink", "alcohol")),
        ("I've been using Kayak to compare prices.", ("Ines", "uses", "Kayak")),
        ("I just moved to Leeds two weeks ago and I'm surrounded by boxes.", ("Ines", "lives in", "Leeds")),
        ("My brother Eli works at a zoo, he'd love to hear about it.", ("Ines's brother Eli", "works at", "a zoo")),
        ("We've got a pup and a kitty.", ("Ines", "has", "a pup and a kitty")),
        ("I have an air fryer, which one is better for chickpeas?", ("Ines", "has", "an air fryer")),
        ("Last Friday I went to a food festival.", ("Ines", "went to", "a food festival")),
        ("I got some news to share - I joined a gym last week!", ("Ines", "joined", "a gym")),
        ("I'm now part of the fire brigade.", ("Ines", "is a member of", "the fire brigade")),
        ("I lost my job at the bank this month.", ("Ines", "lost", "job at the bank")),
        ("I started volunteering at a shelter, so I'd like some tips.", ("Ines", "volunteers at", "a shelter")),
        ("I've been vegetarian since January, can I have the recipe?", ("Ines", "is known to be", "vegetarian")),
        ("I really enjoy baking.", ("Ines", "enjoys", "baking")),
        ("My daughter hates mushrooms. Any ideas?", ("Ines's daughter", "hates", "mushrooms")),
        ("My kitchen is about 8 square meters if you need to know.", ("Ines's kitchen", "is", "about 8 square meters")),
        ("うちは木曜休みです。", ("Ines", "休み", "木曜")),
        ("私は京都に住んでいて、大阪へ通勤しています。", ("Ines", "住んでいる", "京都")),
        ("うちの娘も保育園に通っています。", ("Inesの娘", "通っている", "保育園")),
        ("仙台の会社に転職したんだ。", ("Ines", "勤務先", "仙台の会社")),
        ("妻が猫アレルギーだから飼えないんだ。", ("Inesの妻", "アレルギー", "猫")),
        ("次の会議は水曜の14時です。", ("次の会議", "である", "水曜の14時")),
        ("先月、名古屋に引っ越しました。", ("Ines", "住んでいる", "名古屋")),
        ("妹の名前はミカです。", ("Inesの妹", "名前", "ミカ")),
        ("定休日が火曜日に変わりました。", ("定休日", "である", "火曜日")),
        ("データベースはPostgreSQL 17を使っています。", ("データベース", "使っている", "PostgreSQL 17")),
        ("私はそばアレルギーです。", ("Ines", "アレルギー", "そば")),
    ],
)
def test_what_is_plainly_stated(text: str, fact: tuple[str, str, str]) -> None:
    """Of the author, of theirs, and of things that have a name."""
    assert told(text) == [fact]


@pytest.mark.parametrize(
    "text",
    [
        "Are deploys on Thursdays now?",
        "do deploys move to tuesdays or not",
        "If the limit is 300, the timeout is 5 seconds.",
        "Should the limit be 300, call me.",
        "Maybe the office is in Porto.",
        "I wish the limit was 300. I hope the office is in Porto.",
        "Please set the timeout to 5 seconds.",
        "Make sure the timeout is 5 seconds.",
        "The office is not in Porto.",
        "Karl said the API port is 9000.",
        'Somebody claimed that "the IP is 10.0.4.9".',
        "> The API port is 9000.",
        "```\nThe API port is 9000.\n```",
        "The API port is 9000, haha.",
        "I used to live in Lima.",
        "Hard work pays off. Your support means a lot.",
        "It is on the table. They live in Porto.",
        "I love this idea! I like that. We love it.",
        "I have a feeling you would get along. I got a new job!",
        "I'm taking the time to reflect.",
        "I live in Porto, I guess. I live in Porto, or so they said.",
        "The office is in Porto, right? We live in Porto, and you too?",
        "I have an air fryer if I remember right.",
        "I have a car, but I sold it. I have a laptop but it's not mine.",
        "I joined a gym, so they tell me. I ran a marathon in my head.",
        "We opened a window, it's too hot. I got three dogs to walk today.",
        "Friendship is the greatest gift. Patience is a virtue.",
        "上限は500件ですか?",
        "もし雨なら集会は土曜です。",
        "上限は500件だといいですね。",
        "上限を500件にしてください。",
        "会議は水曜ではありません。",
        "部長によると、本社は品川です。",
        "「上限は500件です」と言っていました。",
        "上限は500件かもしれません。",
        "音楽は心の支えです。",
        "本社は品川だけど、変わるかも。",
        "京都に住んでいて、という設定で書いて。",
        "名前はクロとシロ。",
    ],
)
def test_what_states_nothing(text: str) -> None:
    """Questions, suppositions, wishes, orders, denials, quotations, rumours, jokes, the past, small talk."""
    assert told(text) == []


def test_the_quote_stands_in_the_message() -> None:
    """Letter by letter, also where the text has many lines and sentences."""
    text = "Hi!\n\nBy the way:  my doctor is Dr. Adeyemi,  you know.\nSee you"
    (fact,) = stated_facts(text, "Paul")
    assert fact.quote == "By the way:  my doctor is Dr. Adeyemi,  you know."
    assert (fact.subject, fact.object, fact.by_author) == ("Paul's doctor", "Dr. Adeyemi", False)


def test_two_facts_of_one_sentence() -> None:
    """Each with the whole sentence as its quote."""
    assert told("I play the bass and Jo plays the drums.", "Kai") == [
        ("Kai", "plays", "the bass"),
        ("Jo", "plays", "the drums"),
    ]


@pytest.mark.parametrize("part", ["train", "heldout", "heldout_chats"])
def test_what_is_accepted_is_right_in_the_worlds(part: str) -> None:
    """Nothing is accepted from a message that states nothing, whoever wrote the world."""
    wrong = []
    for file in sorted((WORLDS / part).glob("*.json")):
        world = json.loads(file.read_text(encoding="utf-8"))
        for message in world["messages"]:
            if not message.get("facts") and message["author"] != "assistant":
                found = stated_facts(message["text"], message["author"])
                wrong += [fact.quote for fact in found if fact.confidence >= ACCEPTED_FROM]
    assert wrong == []


@pytest.mark.parametrize(
    "text", ["", " ", "の", "。。。", "I'm", "is is is", "a" * 50_000, "私は" * 9_000, "The " * 9_000 + "is on Monday"]
)
def test_texts_of_any_shape(text: str) -> None:
    """Nothing is stated, and it takes no time."""
    assert told(text) == []
