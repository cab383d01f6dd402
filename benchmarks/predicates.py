"""Predicates of facts with possible objects, and whether a subject has one of them at a time or many.

The words of the development part may guide the rules of `librarian/items/predicates.py`; the held-out part is only for
measuring.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Known:
    """A predicate, its cardinality, and objects for it."""

    predicate: str
    values: Literal["one", "many"]
    objects: tuple[str, ...]


def _known(values: Literal["one", "many"], lines: str) -> tuple[Known, ...]:
    rows = (line.strip().split(": ", 1) for line in lines.strip().splitlines())
    return tuple(Known(predicate, values, tuple(objects.split(", "))) for predicate, objects in rows)


DEVELOPMENT = _known(
    "one",
    """
    lives in: Oslo, Kyoto, Bern
    works at: Acme, Nordwind, Hafen AG
    phone number is: 555-0101, 555-0199, 555-0142
    status: open, blocked, closed
    birthday: 3 May, 4 May, 12 June
    is owned by: team red, team blue, team green
    has pool size: 10, 20, 40
    job title: engineer, team lead, architect
    favourite colour: green, blue, grey
    meets on: Monday, Tuesday, Friday
    住んでいる: 大阪, 札幌, 福岡
    勤務先: 青海商事, 東都銀行, 北星
    電話番号: 03-1111-2222, 03-3333-4444, 06-5555-6666
    状態: 進行中, 完了, 保留
    """,
) + _known(
    "many",
    """
    likes: tea, jazz, chess
    has: a dog, a bike, a garden
    owns: a boat, a cabin, a van
    speaks: German, Basque, Welsh
    knows: Chika, Farid, Emil
    attends: the reading group, yoga, night school
    is: a nurse, a mother, left-handed
    visited: Rome, Lima, Fez
    depends on: zlib, openssl, curl
    is allergic to: nuts, pollen, cats
    好き: 寿司, 紅茶, 将棋
    持っている: 自転車, 犬, ピアノ
    話せる: 英語, 韓国語, 独語
    参加している: 読書会, 合唱団, 勉強会
    """,
)

HELD_OUT = _known(
    "one",
    """
    resides in: Graz, Turin, Malmö
    is employed by: Voltwerk, Silva & Co, Ostbahn
    mobile number: 0170 111, 0170 222, 0170 333
    current address: Elm Street 4, Oak Lane 9, Hill Road 2
    marital status: single, engaged, married
    reports to: Dunja, Bela, Ada
    is hosted on: vm-3, vm-7, bare metal 2
    retention period: 30 days, 90 days, 1 year
    opens at: 8:00, 9:00, 9:30
    default branch: main, trunk, develop
    is headed by: Ms Ito, Mr Sand, Dr Kay
    is located at: dock 4, dock 9, hall B
    weighs: 61 kg, 64 kg, 59 kg
    primary contact: Lena, Rui, Marta
    deadline is: 1 March, 9 March, 2 April
    preferred language: Python, Rust, Go
    is married to: Otto, Pablo, Quinn
    runs version: 2.1, 2.2, 3.0
    account manager: Priya, Ken, Lou
    sits next to: Emil, Dunja, Farid
    has a balance of: 120 EUR, 80 EUR, 310 EUR
    住所: 港区1-2, 北区3-4, 西区5-6
    に勤めている: 丸角商店, 山手病院, 東西通信
    身長: 170cm, 171cm, 172cm
    上司: 田中, 森, 佐藤
    締め切り: 3月1日, 3月8日, 4月2日
    家賃: 8万円, 9万円, 10万円
    暮らしている: 長野, 金沢, 那覇
    """,
) + _known(
    "many",
    """
    has: two kids, a scooter, a limp
    enjoys: sailing, opera, baking
    is fluent in: Dutch, Tamil, Farsi
    has visited: Peru, Nepal, Ghana
    plays: the cello, handball, go
    bought: a lamp, a rug, a kettle
    is a member of: the choir, the union, the jury
    collects: stamps, coins, maps
    has a sister named: Ida, Eva, Mia
    takes: aspirin, vitamin D, the bus
    goes to: the gym, church, the market
    drives: a van, a tram, a taxi
    wears: glasses, a ring, a scarf
    is working on: the parser, the docs, the index
    is interested in: bees, trains, optics
    integrates with: Slack, Jira, Teams
    talks to: Emil, Ada, Dunja
    has experience with: Kafka, Redis, Spark
    is used by: billing, search, the app
    invited: Chika, Bela, Ada
    volunteers at: the shelter, the library, the zoo
    shops at: Rewe, Lidl, Coop
    is known for: patience, puns, pies
    lists as a requirement: Java, SQL, Git
    is available on: Monday, Thursday, Friday
    won a prize in: 2019, 2021, 2024
    has worked for: Acme, Voltwerk, Ostbahn
    飼っている: 猫, 金魚, 亀
    知っている: 田中, 森, 佐藤
    習っている: ピアノ, 茶道, 書道
    弾ける: ギター, 琴, 三味線
    ある: 車, 家, 別荘
    得意: 料理, 数学, 水泳
    よく行く: 図書館, 公園, 銭湯
    担当: 請求, 検索, 文書
    友達: 健, 誠, 愛
    """,
)
