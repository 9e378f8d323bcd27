"""One small set and one small graph, told in seven languages with invented names; what is said is the same in each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """Names and sentences of a language."""

    works: tuple[str, ...]
    makers: tuple[str, ...]
    towns: tuple[str, ...]
    lands: tuple[str, ...]
    made: str
    """A sentence with a work and its maker."""
    born: str
    """One with a maker and a town."""
    feast: str
    """One with a maker and a town that answers nothing."""
    lies: str
    """Two sentences with a town, its land, and another one."""
    seen: str
    """One with a work and the town where it is to be seen."""
    asked: tuple[str, str, str]
    """The whole question, and its two steps."""


OFTEN = ("en", "tr", "zh")
"""Languages of which ``make test`` makes sets: English, one with its own letter case and suffixes, and one without spaces."""
LANGUAGES = {
    "en": Language(
        works=("Amber Gate", "Reed Mill", "Heron Weir", "Slate Barn", "Frost Pier", "Larch Dome"),
        makers=("Odrin Vale", "Mira Tolk", "Sefa Brand", "Jorn Pell", "Ilka Rost", "Tavi Quell"),
        towns=("Brimholt", "Castrel", "Dunvar", "Elmouth", "Farrick", "Gostrel"),
        lands=("Norvania", "Sudmark", "Ostrelia"),
        made="{work} was made by the mason {maker}.",
        born="{maker} was born in {town}.",
        feast="A feast of {maker} was held in {town}.",
        lies="{town} is a large town of {land}. Trains lead from there to {other}.",
        seen="{work} is a house in {town}.",
        asked=("Where was the maker of {work} born?", "Who made {work}?", "Where was #1 born?"),
    ),
    "de": Language(
        works=("Bernsteintor", "Schilfmühle", "Reiherwehr", "Schieferhof", "Frostbrücke", "Lärchenhalle"),
        makers=("Odrin Wahl", "Mira Tölk", "Sefa Brand", "Jorn Pell", "Ilka Rößler", "Tavi Quell"),
        towns=("Brimholz", "Kastrel", "Dünwar", "Elmünde", "Farrick", "Gostrel"),
        lands=("Norwanien", "Südmark", "Ostrelien"),
        made="{work} wurde von {maker} gebaut.",
        born="{maker} wurde in {town} geboren.",
        feast="Ein Fest für {maker} fand in {town} statt.",
        lies="{town} ist eine große Stadt in {land}. Züge fahren von dort nach {other}.",
        seen="{work} ist ein Haus in {town}.",
        asked=("Wo wurde der Erbauer von {work} geboren?", "Wer baute {work}?", "Wo wurde #1 geboren?"),
    ),
    "tr": Language(
        works=("Kehribar Kapısı", "Saz Değirmeni", "Balıkçıl Bendi", "Arduvaz Ahırı", "Ayaz İskelesi", "Iğdır Kubbesi"),
        makers=("Odrin Vali", "İlke Tolk", "Sefa Işık", "Jorn Peli", "Çağla Rost", "Tavi Kuel"),
        towns=("İzbark", "Kastrel", "Dunvar", "Elmuz", "Iskara", "Gostrel"),
        lands=("Norvanya", "İsmark", "Ostrelya"),
        made="{work}'nı mimar {maker} yaptı.",
        born="{maker}, {town}'da doğdu.",
        feast="{maker}'nın şenliği {town}'da yapıldı.",
        lies="{town}, {land}'nın büyük bir şehridir. Trenler oradan {other}'ya gider.",
        seen="{work}, {town}'da bir evdir.",
        asked=("{work}'nı yapan nerede doğdu?", "{work}'nı kim yaptı?", "#1 nerede doğdu?"),
    ),
    "ko": Language(
        works=("호박문", "갈대방아", "왜가리보", "슬레이트헛간", "서리다리", "낙엽송관"),
        makers=("오드린", "미라솔", "세파란", "조른", "일카", "타비온"),
        towns=("브림골", "카스텔", "둔바르", "엘무트", "파릭", "고스텔"),
        lands=("노르반", "수드마르", "오스트렐"),
        made="{work}은 석공 {maker}이 만들었다.",
        born="{maker}은 {town}에서 태어났다.",
        feast="{maker}의 잔치가 {town}에서 열렸다.",
        lies="{town}은 {land}의 큰 도시이다. 기차가 그곳에서 {other}으로 간다.",
        seen="{work}은 {town}에 있는 집이다.",
        asked=("{work}을 만든 사람은 어디에서 태어났는가?", "{work}을 만든 사람은?", "#1은 어디에서 태어났는가?"),
    ),
    "zh": Language(
        works=("琥珀门", "芦苇坊", "苍鹭堰", "石板仓", "霜降桥", "落叶堂"),
        makers=("欧德林", "米拉克", "塞法德", "乔恩佩", "伊尔卡", "塔维奎"),
        towns=("布林镇", "卡斯城", "敦瓦堡", "埃尔港", "法里克", "戈斯特"),
        lands=("诺万国", "苏德邦", "奥斯国"),
        made="{work}由石匠{maker}建造。",
        born="{maker}出生于{town}。",
        feast="{maker}的庆典在{town}举行。",
        lies="{town}是{land}的大城市。列车从那里开往{other}。",
        seen="{work}是位于{town}的房子。",
        asked=("建造{work}的人出生在哪里?", "谁建造了{work}?", "#1出生在哪里?"),
    ),
    "ja": Language(
        works=("琥珀の門", "葦の水車", "鷺の堰", "スレート小屋", "霜の橋", "からまつ堂"),
        makers=("オドリン", "美良一郎", "セファ", "城野進", "いるか", "多比夫人"),
        towns=("ブリム町", "カステル", "緞原", "得無都", "ファリック", "ごすて村"),
        lands=("ノルバニア", "南辺国", "オストレリア"),
        made="{work}は石工の{maker}が作った。",
        born="{maker}は{town}で生まれた。",
        feast="{maker}の祭りが{town}で開かれた。",
        lies="{town}は{land}の大きな町です。列車はそこから{other}へ行きます。",
        seen="{work}は{town}にある家です。",
        asked=("{work}を作った人はどこで生まれたか?", "{work}を作ったのは誰か?", "#1はどこで生まれたか?"),
    ),
    "th": Language(
        works=("ประตูอำพัน", "โรงสีอ้อ", "ฝายนกกระสา", "ยุ้งหินชนวน", "ท่าเรือน้ำค้าง", "หอต้นสน"),
        makers=("โอดริน", "มีราทก", "เซฟาบัน", "ยอนเพล", "อิลการส", "ทาวีเควล"),
        towns=("บริมโฮล", "คาสเตร", "ดุนวาร", "เอลมุท", "ฟาริก", "กอสเตร"),
        lands=("นอร์วาเนีย", "ซุดมาร์ก", "ออสเตรเลีย"),
        made="{work}สร้างโดยช่างหิน{maker}",
        born="{maker}เกิดที่{town}",
        feast="งานฉลองของ{maker}จัดขึ้นที่{town}",
        lies="{town}เป็นเมืองใหญ่ของ{land} รถไฟวิ่งจากที่นั่นไป{other}",
        seen="{work}เป็นบ้านใน{town}",
        asked=("ผู้สร้าง{work}เกิดที่ไหน?", "ใครสร้าง{work}?", "#1เกิดที่ไหน?"),
    ),
}


def question_set(language: Language) -> list[dict[str, Any]]:
    """Six questions of two steps over the same twelve paragraphs and one of their own, as MuSiQue's files have them."""
    shown = []
    for work, maker, town in zip(language.works, language.makers, language.towns, strict=True):
        shown += [(work, language.made.format(work=work, maker=maker)), (maker, language.born.format(maker=maker, town=town))]
    records = []
    for number, (work, maker, town) in enumerate(zip(language.works, language.makers, language.towns, strict=True)):
        whole, made, born = (text.format(work=work) for text in language.asked)
        steps = [(10 + number, made, maker, 2 * number), (20 + number, born, town, 2 * number + 1)]
        records.append(
            {
                "id": f"2hop__{10 + number}_{20 + number}",
                "paragraphs": [
                    {"idx": place, "title": title, "paragraph_text": text, "is_supporting": place in (2 * number, 2 * number + 1)}
                    for place, (title, text) in enumerate([*shown, ("!", language.feast.format(maker=maker, town=town))])
                ],
                "question": whole,
                "question_decomposition": [
                    {"id": id_, "question": asked, "answer": answer, "paragraph_support_idx": place} for id_, asked, answer, place in steps
                ],
                "answer": town,
                "answer_aliases": [],
                "answerable": True,
            }
        )
    return records


def write_set(language: Language, folder: Path) -> Path:
    """The set as one file."""
    path = folder / "words_musique_dev.jsonl"
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in question_set(language)), "utf-8")
    return path


def write_source(language: Language, folder: Path, *, english: bool) -> Path:
    """A domain's TOML with its source beside it: works in towns, towns in lands, each town with an article that names another land."""
    source = folder / "source"
    source.mkdir()
    names = [*language.works, *language.towns, *language.lands]
    ids = {name: f"e{number}" for number, name in enumerate(names)}
    towns = {work: language.towns[number] for number, work in enumerate(language.works)}
    lands = {town: language.lands[number // 2] for number, town in enumerate(language.towns)}
    others = {town: language.lands[(number // 2 + 1) % 3] for number, town in enumerate(language.towns)}
    texts = {work: language.seen.format(work=work, town=town) for work, town in towns.items()}
    texts |= {town: language.lies.format(town=town, land=lands[town], other=others[town]) for town in language.towns}
    documents = ({"id": f"d{ids[name]}", "title": name, "entity": ids[name], "text": text} for name, text in texts.items())
    (source / "documents.jsonl").write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in documents), "utf-8")
    kinds = dict.fromkeys(language.works, "house") | dict.fromkeys(language.towns, "town") | dict.fromkeys(language.lands, "land")
    rows = "".join(f"{ids[name]}\t{name}\t\t{kinds[name]}\n" for name in names)
    (source / "entities.tsv").write_text("id\tlabel\taliases\tdescription\n" + rows, "utf-8")
    facts = [(work, "in", town) for work, town in towns.items()] + [(town, "land", land) for town, land in lands.items()]
    facts += [(work, "land", lands[town]) for work, town in towns.items()]
    triples = "".join(f"{ids[head]}\t{relation}\t{ids[tail]}\n" for head, relation, tail in facts)
    (source / "triples.tsv").write_text(triples, "utf-8")
    (source / "relations.tsv").write_text("id\tlabel\nin\tlocated in\nland\tcountry\n", "utf-8")
    settings = 'extends = "wikidata"\nname = "houses"\ndataset = "househop"\n\n[qangaroo.evidence]\nbeside_answer = true\n'
    settings += "\n[qangaroo.splits]\ntrain = 1.0\ndev = 0.0\ntest = 0.0\n"
    toml = folder / "houses.toml"
    toml.write_text(settings if english else f'{settings}\n[linking]\nlanguage = ""\narticles = ""\n', "utf-8")
    return toml


def write_single_hops(language: Language, folder: Path) -> Path:
    """A SQuAD file with one question about each town: of which land it is."""
    data = []
    for number, town in enumerate(language.towns):
        land = language.lands[number // 2]
        text = language.lies.format(town=town, land=land, other=language.lands[(number // 2 + 1) % 3])
        answers = [{"text": land, "answer_start": text.index(land)}]
        qas = [{"id": f"q{number}", "question": language.asked[1].format(work=town), "answers": answers}]
        data.append({"title": town, "paragraphs": [{"context": text, "qas": qas}]})
    path = folder / "squad_dev.json"
    path.write_text(json.dumps({"version": "1.1", "data": data}, ensure_ascii=False), "utf-8")
    return path
