"""The nouns by which encyclopedias say what things are and questions ask for them, in classes of things that can stand for each other."""

CLASSES = {
    "person": """
        actor actress admiral adventurer advisor advocate ambassador animator archbishop architect astronaut athlete attorney author
        ballerina banker baron baronet bishop boxer brother cardinal celebrity champion chef child choreographer clergyman coach comedian
        commander commentator composer conductor cosmonaut countess cousin creator cricketer criminal critic dancer daughter defenceman
        defender defenseman designer diplomat director doctor drummer duchess duke earl editor educator emperor empress engineer
        entertainer entrepreneur executive explorer father filmmaker footballer founder fullback gangster geographer goalkeeper goaltender
        golfer governor grandfather grandmaster grandmother grandson gymnast heiress historian husband infanta inventor jockey judge king
        knight lady lawyer leader linebacker lord man margrave mayor merchant midfielder missionary monarch monk mother mountaineer
        murderer nephew niece nobleman nun nurse officer painter pastor person personality pharaoh philosopher photographer pilot pirate
        pitcher player playwright poet pope preacher prelate presenter president priest prince princess professor programmer quarterback
        queen racer rapper receiver referee reformer researcher ruler saint scholar screenwriter sculptor senator sibling singer sister
        skater skier soldier son songwriter soprano sovereign sportscaster spouse sultan supercentenarian supermodel surgeon swimmer
        teacher tenor theologian uncle viscount warrior wife winger wrestler writer
    """,
    "settlement": """
        barangay birthplace borough capital city commune community comune hamlet hometown locality municipality neighborhood neighbourhood
        seat settlement suburb town township village
    """,
    "region": """
        arrondissement canton county department district emirate governorate kreis landkreis oblast prefecture province raion rayon region
        state taluk tehsil territory voivodeship
    """,
    "country": "country empire kingdom nation republic",
    "continent": "continent subcontinent",
    "river": "canal creek river stream tributary watercourse",
    "lake": "lagoon lake reservoir",
    "sea": "bay fjord gulf ocean sea strait",
    "island": "archipelago atoll island islands",
    "mountain": "hill mount mountain mountains peak volcano",
    "desert": "desert",
    "valley": "valley",
    "peninsula": "cape peninsula",
    "church": "abbey basilica cathedral chapel church monastery priory",
    "mosque": "mosque",
    "temple": "synagogue temple",
    "castle": "castle fort fortress palace",
    "stadium": "arena stadium",
    "airport": "airfield airport",
    "station": "station",
    "house": "house mansion",
    "hospital": "hospital",
    "hotel": "hotel",
    "library": "library",
    "museum": "museum",
    "prison": "prison",
    "skyscraper": "skyscraper tower",
    "theatre": "theater theatre",
    "bridge": "bridge",
    "park": "cemetery gardens park reserve zoo",
    "road": "avenue boulevard freeway highway motorway road street",
    "railway": "railroad railway tramway",
    "school": "academy college conservatory gymnasium institute polytechnic school seminary university",
    "company": """
        airline automaker bank brewery company conglomerate corp corporation firm inc label ltd manufacturer pictures records retailer
        studio studios subsidiary
    """,
    "party": "party",
    "organisation": """
        agency alliance association charity commission committee council federation foundation institution ministry organisation
        organization society union
    """,
    "force": "army battalion brigade legion militia navy regiment squadron",
    "team": "club fc team",
    "league": "league",
    "band": "band boyband duo ensemble orchestra quartet quintet supergroup trio",
    "film": "documentary film movie",
    "television": "miniseries programme show sitcom telenovela",
    "book": "autobiography biography book memoir novel novella trilogy",
    "poem": "poem",
    "comic": "comic manga",
    "play": "ballet musical opera operetta play",
    "song": "anthem ballad hymn single song",
    "album": "album ep mixtape soundtrack",
    "music": "cantata concerto oratorio sonata symphony",
    "painting": "painting portrait sculpture statue",
    "game": "game videogame",
    "periodical": "journal magazine newspaper tabloid",
    "character": "character protagonist superhero villain",
    "deity": "deity god goddess",
    "war": "battle rebellion revolt siege uprising war",
    "competition": "championship competition cup tournament",
    "festival": "festival holiday",
    "election": "election referendum",
    "storm": "cyclone hurricane storm typhoon",
    "award": "award medal prize",
    "treaty": "pact treaty",
    "language": "dialect language",
    "sport": "sport",
    "genus": "genus",
    "species": "species subspecies",
    "breed": "breed",
    "plant": "herb plant shrub tree",
    "bird": "bird",
    "fish": "fish",
    "dinosaur": "dinosaur pterosaur",
    "ship": "battleship boat cruiser destroyer frigate ship steamship submarine yacht",
    "car": "automobile car sedan suv",
    "aircraft": "aircraft airliner airplane bomber helicopter",
    "galaxy": "galaxy nebula",
    "constellation": "constellation",
    "planet": "asteroid comet moon planet",
    "drug": "antibiotic drug medication",
    "protein": "enzyme protein",
    "disease": "disease disorder illness infection syndrome",
    "compound": "acid compound",
    "element": "element",
    "mineral": "mineral",
    "software": "browser software",
    "instrument": "instrument",
    "religion": "denomination religion",
    "people": "clan dynasty people tribe",
    "genre": "genre subgenre",
    "currency": "currency",
    "date": "date day year",
}  # fmt: skip
"""Class → its nouns. The names of one class suit each other; whatever has a noun of no class suits what has the same noun alone."""
NOUNS = {noun: name for name, nouns in CLASSES.items() for noun in nouns.split()}
"""Noun → class."""
ROLES = frozenset(
    {"developer", "distributor", "employer", "maker", "manufacturer", "operator", "owner", "performer", "publisher", "winner"}
)
"""Nouns that ask for things of several classes: a publisher is a person or a company."""
