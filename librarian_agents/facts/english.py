"""Reads the plain statements of an English sentence. Patterns only: a subject that stands for itself, a verb for
something lasting, and an object.

Chats are full of sentences that look like statements and state nothing ("hard work pays off"), so the subject decides
which verbs count: people, named or owned things, or things without an article, which need an object that is a number, a
time or a name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Statement:
    """A subject, predicate and object stated by a sentence of this `form`; see `stated.Stated`."""

    subject: str
    predicate: str
    object: str
    form: str
    confidence: float
    by_author: bool = False


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# Sentences that state nothing.

_DOUBTED = _any(
    r"\?",
    # supposed
    r"\b(?:if|unless|suppos(?:e|ing)|assum(?:e|es|ing)|imagin(?:e|ing)|provided|whether|otherwise|in case"
    r"|as (?:if|though))\b",
    r"\b(?:were|had) (?:i|we|you|it|he|she|they)\b|^(?:should|were|had)\b",
    # doubted
    r"\b(?:might|(?<!in )(?<!\d )(?-i:may)(?! \d)|maybe|perhaps|probably|possibly|presumably|supposedly"
    r"|apparently)\b",
    r"\b(?:allegedly|could|would|should|must|shall|ought|seem(?:s|ed)?|sounds?|likely|guess|think|thought"
    r"|believe[sd]?)\b",
    r"\b(?:doubt|suspect|reckon|not sure|no idea|unsure|almost|nearly|pretend\w*|hypothetical\w*)\b|\b(?:looks"
    r"|feels?) like\b",
    r"\b(?:for (?:example|instance)|e\.g)\b|\b(?:i|we|you|he|she|they|it)['’]d\b",
    # wished, planned
    r"\b(?:hop(?:e[ds]?|ing|efully)|wish(?:es|ed)?|want(?:s|ed)?|wanna|dream\w*|fear|afraid|rather|going to|gonna)\b",
    r"\b(?:plan(?:s|ned|ning)?|about|try(?:ing)?|need) to\b|\b(?:thinking (?:of|about)|consider(?:s|ing)?)\b"
    r"|\blet(?:['’]?s| us)\b",
    # reported from others, or not meant
    r"\b(?:sa(?:y|ys|id|ying)|t(?:ell|ells|old)|wr(?:ites?|ote)|claim(?:s|ed)?|according to|reportedly"
    r"|rumou?r(?:s|ed)?)\b",
    r"\b(?:hear[sd]?|ask(?:s|ed|ing)?|announce[sd]?|quot(?:e[sd]?|ing)|mention(?:s|ed)|insist(?:s|ed)|translate)\b",
    r"\b(?:jok(?:e[sd]?|ing)|kidding|sarcas\w*|story|novel|movie|film|lyrics|yeah right|haha+|lol|lmao|rofl|jk"
    r"|riddle)\b",
    r"\b(?:fiction\w*|role-?play\w*)\b|[😂🤣😜😉🙄]|/s\b",
    # taken back
    r"\bbut\b.*\b(?:sold|gave|returned|cancell?ed|died|quit|mine|ended)\b|\bin my (?:head|dreams?|mind|imagination)\b"
    r"|\bso (?:they|he|she|people|i)(?:['’]?m| am)? (?:tell|told|say)\b",
    # of the past only
    r"\b(?:used to|formerly|once upon|back then|in the old days|no longer|any ?more)\b",
    # feelings
    r"\bmean(?:s|t)? (?:a lot|a ton|so much|the world|everything)\b|\b(?:appreciat|inspir|motivat)\w*"
    r"|\bgrateful\b|\bkey\b",
)
"""A sentence that matches any of these states nothing for certain."""
_ASKS = _any(
    r"^(?:(?:or|and|so|but|ok|okay|well|hey|hi|also|um)[ ,]+)*(?:who(?:se|s)?|what|where|why|how|which|wonder(?:ing)?"
    r"|when(?= (?:is|are|do|does|did|will|was))|do|does|did|is|are|am|was|were|can|has|have|will|any(?:one|body))\b",
    r"\bwonder(?:s|ing)?\b|\banyone knows?\b|\bknow (?:where|when|who|what|how|why|which)\b",
)
_ORDERS = _any(
    r"^(?:(?:and|so|but|then|also|ok|ah|oh|now|from now on|next time)[ ,]+)*(?:please|pls|plz|kindly|don['’]?t|do not"
    r"|never|always|remember|note|make|be|check|ensure|use|set|keep|let|see|put|call|send|bring|take|give|tell|ask"
    r"|store|save|stay|record|add|ignore|forget|act|answer|reply|respond|write|say|stop|try|go|come|get|wait|look|read"
    r"|bump|change|update"
    r"|remove|delete|feel|thanks?|gotta)\b",
    r"\b(?:please|pls|plz|make sure)\b|^you(?:r|rs)?\b",
)
_DENIES = _any(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|cannot|hardly|barely|without|instead of|except"
    r"|fails? to)\b|n['’]t\b",
    r"\b(?:dont|isnt|cant|doesnt|wont)\b",
)
_CONTRAST = re.compile(r", not (?:the |a |an |on |in |at )?[\w .-]{1,30}$", re.IGNORECASE)
_FLEETING = _any(
    r"\b(?:today|tonight|tomorrow|yesterday|this (?:morning|afternoon|evening|weekend)|just now|soon|later|a minute)\b"
)
_QUOTE = re.compile(r"[\"“”«»„]|(?<!\w)['‘][^'’]{3,}['’](?!\w)")
_TITLE = re.compile(r"[\"“«„]([^\"”»“]{2,60})[\"”»“]")

# Times, numbers, names.

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_NUMERAL = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|twenty|thirty|forty"
    r"|fifty|sixty|seventy|eighty|ninety|hundred)"
)
_NUMBER = rf"(?:[$€£¥#]?\d[\w.,:%/+-]*|{_NUMERAL})"
_CLOCK = rf"(?:(?:a )?(?:quarter|half) (?:past|to) \w+|noon|midnight|{_NUMBER})"
_WHEN = (
    rf"(?:the )?(?:(?:first|second|third|fourth|last|every|each|other|early|late|mid|next) )*"
    rf"(?:{_DAY}|{_MONTH}|{_CLOCK}|weekdays?|weekends?|mornings?|evenings?)\b"
)
_KIN = (
    r"(?:(?:best|closest|oldest|older|younger|elder|little|big|twin|half|step|great|grand|eldest|youngest|new|old"
    r"|late)[ -])*"
    r"(?:mother|father|mum|mom|dad|parents|sister|brother|son|daughter|wife|husband|partner|girlfriend|boyfriend"
    r"|fianc[ée]e?|child|kids?|children|twins?|baby|aunt|uncle|cousin|niece|nephew|grandmother|grandfather|grandma"
    r"|grandpa|granny|friend|neighbou?r|flatmate|roommate|colleague|boss|manager|dog|cat|horse|rabbit|parrot|hamster"
    r"|puppy|kitten)"
)
_NAME = (
    r"(?-i:(?:(?:Mr|Mrs|Ms|Dr|Prof|Sir|St)\.? )?[A-Z][\w'’&.-]*\w"
    r"(?: (?:(?:van|von|de|la|del|di|der|bin|al) )*[A-Z][\w&.-]*\w)*)"
)

# Possible subjects of a sentence.

_WORD = r"\w[\w'’&/#.+-]*(?<!\.)"
_STOP = (
    r"(?!(?:is|are|was|were|be|been|being|am|has|have|had|do|does|did|will|can|that|which|who|when|because|and|or|but"
    r"|if|so|it|he|she|they|i|we|you|your|me|us|him|them|this|these|those|there|then|not|now|currently|just|also|still"
    r"|only|always|usually|to|since|until|than|while|really|very|glad|lot|my|our|last)\b)"
)
_NOUNS = rf"{_STOP}{_WORD}(?: {_STOP}{_WORD}){{0,4}}?"
_ME = r"(?P<i>i|we)\b"
_KINSHIP = rf"(?:my|our) {_KIN}(?:,? {_NAME},?)?"
_THING = rf"(?:(?:my|our|the)|{_NAME}(?:['’]s|(?<=s)['’])) {_NOUNS}"
_BARE = rf"{_STOP}{_WORD}(?: {_STOP}{_WORD}){{0,2}}?"
_WHO: Mapping[str, str] = MappingProxyType({"i": _ME, "k": _KINSHIP, "n": _NAME, "t": _THING, "b": _BARE})
_NOT_SUBJECTS = """
i you he she it they we this that these those there here what which who everything everyone everybody someone
something nothing anything anyone all some most many one his her its their mine yours ours hers theirs such both
each any every none yes no ok okay sure thanks thank hi hello hey dear welcome great cool nice sorry congrats today
tomorrow yesterday now then so but and or because when while after before since also still just only well oh ah um
hmm wow perhaps maybe of to for with from by about as than let how why where more less much lots if please yeah yep
nope good bad same another other others your in on at hope glad took gotta really appreciate special hard time life
things people love
"""
_NO_SUBJECT = frozenset(_NOT_SUBJECTS.split())
_GERUNDS = re.compile(
    r"(?!(?:meeting|visiting|opening|closing|working|training|parking|building|wedding|rehearsing|spring|morning"
    r"|evening|string|ring|king|boxing|swimming|ceiling|staging|heating|pricing|shipping|billing|booking|clothing"
    r"|washing|bowling|climbing"
    r"|boarding)\b)\w+ing\b",
    re.IGNORECASE,
)

# Predicates.

_ADVERB = r"(?:(?:now|currently|still|already|also|always|usually|just|all|both|actually|officially|mostly|finally) )*"
_BE = rf"(?P<be>\s+(?:is|are|am)|['’](?:s|re|m)|(?<=\b[Ii])m)\s+{_ADVERB}"
_HAVE = r"(?:['’]ve| have| has)? (?:just |recently |finally )?"
_STATES = (
    r"vegetarian|vegan|pescatarian|coeliac|celiac|diabetic|asthmatic|epileptic|dyslexic|colou?r-?blind|deaf|blind"
    r"|pregnant|divorced|widowed|engaged|married(?: to .+)?|retired|single|(?:left|right)-handed|bilingual"
    r"|self-employed|unemployed|teetotal|\w+[ -]intolerant|(?:addicted|intolerant|sensitive) to .+|(?:scared"
    r"|afraid) of .+|fluent in .+"
    rf"|(?:responsible for|in charge of) .+|{_NUMBER}(?: years old)?"
)
_CONDITIONS = (
    r"banned|closed|open|mandatory|optional|forbidden|required|compulsory|deprecated|read-only|poor|free(?: (?:for|of"
    r"|within) .+)?"
)
_PARTICIPLES = (
    r"(?:closed|open|shut|held|served|kept|stored|paid|collected|located|based|registered|reserved|booked|set|hosted"
    r"|written|built|made|run|owned|managed|led|scheduled|due|delivered|published|deployed|limited|banned|maintained"
    r"|funded|moored|parked|installed|stationed|capped|handled|turned on|turned off|sold)"
    r" (?:on|in|at|by|to|under|for|from|as|between|until|every)"
)
_CHANGES = (
    r"(?:replaced|released|founded|built|raised|lowered|changed|moved|renamed|set|increased|reduced|extended|postponed"
    r"|promoted) (?:in|on|to)"
)
_PLACE = (
    r"(?:in|on|at|under|behind|above|below|next to|opposite|beside|between|inside|near|outside|just behind"
    r"|just opposite|across from) (?!the (?:way|go|fence|same|moment|end|mood|middle|loop|works|future|table|bright"
    r"|other|verge|phone|lookout|rise|right|wrong|best|process|back|hunt|road|air|market|edge|first|long|dark|zone"
    r"|heart|details?|little|small)\b|(?-i:I)\b)"
    rf"(?:(?:the|our|my|a|an|bay|room|building|class|hall|aisle|gate|platform|row|seat|street) \S|{_NAME}|\d)"
)
_PRAISE = (
    r"(?!(?:an?|the) (?:\w+ )?(?:bit|lot|mess|joke|shame|pity|idea|question|pain|disaster|pleasure|things?|one|ways?"
    r"|point|reason|deal|nightmare|dream|surprise|best|worst|problems?|issues?|mistake|fan|good|great|bad|nice|big|huge"
    r"|real|total|perfect|little|few|same|only|right|wrong|case|matter|start|rest|most|bummer|relief|blast|hit|treat"
    r"|delight|challenge|fact|truth|answer|win|gem|star|legend|genius|lifesaver|such|what|sign|while|long|hard|reminder"
    r"|example|step|chance|risk|part|kind|sort|type|beautiful|lovely|amazing|wonderful|terrible|difficult|different"
    r"|reflection|result|sense|testament|focus|mix|work|believer|joy|person|people|place|world|life|journey|man|woman"
    r"|guy|girl|process|moment|time|day|week|year)\b)"
)
_LIVES = (
    r"live(?P<s>s)? (?:in|with|at|near)|works? (?:at|for|as|in|from)|works? (?=(?:nights?|evenings?|weekends|part-time"
    r"|full-time|shifts)\b)|shops? at|stud(?:y|ies) (?:at|in)|teach(?:es)?(?: at)?|speaks?|drives?|uses?|prefers?"
    r"|plays?(?: for)?|sings?(?: in)?|grows?(?! (?:as|closer|into|up|in)\b)|wears?|owns?(?! (?:my|our)\b)|leads?"
    r"|manages?|supervises?|rehearses? on|meets? (?:on|at|every|in)|ships? (?:to|on)|deploys? (?:to|on)|rows? in"
    r"|banks? with|coach(?:es)?|commutes? (?:from|to|by)|rents?|reports? to|works? on(?= (?:mon|tues|wednes|thurs|fri"
    r"|satur|sun|week))"
)
_LASTS = (
    r"runs? (?:on|in|at)|comes? from|belongs? to|lives? in|meets? (?:on|at|every|in)|takes? place (?:on|in|at)"
    r"|expires? in|reports? to|contains?|plays? for|walks? to|(?:hates?|eats?) (?=the\b)|happens? (?:on|in|at|between"
    r"|every)"
)
_GOES_ON: Mapping[str, str] = MappingProxyType(
    {
        "living in": "lives in",
        "living with": "lives with",
        "working at": "works at",
        "working for": "works for",
        "working as": "works as",
        "volunteering at": "volunteers at",
        "teaching": "teaches",
        "studying at": "studies at",
        "learning": "learns",
        "using": "uses",
        "taking": "takes",
        "attending": "attends",
        "reading": "reads",
        "practicing": "practices",
        "practising": "practises",
        "playing": "plays",
        "training for": "trains for",
        "saving for": "saves for",
        "growing": "grows",
        "staying with": "stays with",
        "working in": "works in",
        "working from": "works from",
        "renting": "rents",
    }
)
_DID = (
    r"joined|adopted|bought|purchased|ordered|rented|leased|sold|launched|founded|quit|lost|planted|inherited|won|published"
    r"|married|graduated from|enrolled (?:in|at)|(?:signed up"
    r"|registered|applied) (?:for|to)|dropped out of|moved into"
)
_ATTENDED = (
    r"attended|participated in|took part in|volunteered at|visited|went to|ran|hosted|organi[sz]ed|competed in"
    r"|performed (?:at|in)|spoke at"
)
_OCCASION = (
    r"concert|festival|conference|workshop|convention|meeting|parade|wedding|fair|reading|marathon|triathlon|race"
    r"|retreat|reunion|exhibition|museum|gala|fundraiser|tournament|competition|show|class|lecture|seminar|hackathon"
    r"|camp|party|exhibit|event|trip|rally|protest|march|match|session|tour|cruise|hospital|shelter|school|funeral|audition|group"
)
_TURNED = (
    r"promoted(?: at work)?|engaged|married|divorced|hired|fired|laid off|pre-approved for .+|accepted (?:to|into|for"
    r"|at) .+"
)
_OBTAINED = (
    r"dog|cat|puppy|pup|kitten|rabbit|horse|parrot|hamster|job|gig|internship|scholarship|degree|car|bike|flat|tattoo"
)
_OWNED = (
    rf"{_OBTAINED}|fish tank|aquarium|truck|van|motorbike|scooter|boat|caravan|house|apartment|cabin|cottage|garden"
    r"|balcony|garage|workshop|farm|allotment|laptop|computer|tablet|phone|camera|printer|router|server|console|guitar"
    r"|piano|violin|drum kit|fridge|freezer|oven|cooker|grill|fryer|mixer|dishwasher|washing machine|tent|kayak"
    r"|certification|certificate|licen[cs]e|diploma|visa|passport|son|daughter|sister|brother|twin|toddler|business"
    r"|shop|store|company|startup|blog|podcast|channel|subscription|membership|\w+-year-old|allergy"
)
_LASTING = (
    rf"{_OWNED}|account|studio|restaurant|gym|gallery|school|practice|office|campaign|website|app|class|course|club|group"
    r"|team|band|project|program|thesis|training|studies|diet|therapy"
)
_ONE = rf"(?:(?:an?|another|my|our) |{_NUMBER} |(?:the )?{_NAME})"
_GENERIC = (
    r"(?!(?:the|this|that|these|those|it|its|how|what|when|where|why|who|your|his|her|hers|their|my|our|being|hearing"
    r"|seeing|having|getting|knowing|spending|doing|an?|all|every|everything|each|some|any|anything|you|him|them|me|us"
    r"|one|here|there|so|both|such|most|more|very|whatever|to)\b)"
)
_TIMED = r"(?:open|close|start|begin|end|leave|arrive|expire|finish|depart|land|happen|run|launch)s?"


@dataclass(frozen=True, slots=True)
class _Form:
    """A kind of sentence: `who` names the subjects it accepts (keys of _WHO); without `predicate` its verb is used.

    `soft`: such words also express feelings and aims; `past`: it happened once, perhaps only yesterday; `cut`: the
    object ends where an aim or a time begins.
    """

    name: str
    confidence: float
    who: str
    pattern: re.Pattern[str]
    predicate: str
    soft: bool
    past: bool
    cut: bool


def _form(
    name: str,
    confidence: float,
    who: str,
    tail: str,
    predicate: str = "",
    *,
    soft: bool = False,
    past: bool = False,
    cut: bool = False,
) -> _Form:
    subject = "|".join(_WHO[key] for key in who)
    pattern = re.compile(rf"(?P<subject>{subject}){tail}", re.IGNORECASE)
    return _Form(name, confidence, who, pattern, predicate, soft, past, cut)


_SCHEDULED = "is scheduled on"
_REST = r"\s+(?P<object>\S.*?)$"
_FORMS: Sequence[_Form] = (
    _form("name", 0.95, "knt", rf"['’]s (?:full |first |last |real )?name{_BE}(?P<object>{_NAME})$", "is named"),
    _form("name", 0.95, "ikntb", rf"{_BE}(?:called|named){_REST}", "is named"),
    _form("allergy", 0.95, "ikn", rf"{_BE}allergic to{_REST}", "is allergic to"),
    _form("origin", 0.92, "ikn", rf"{_BE}(?:originally )?from (?P<object>{_NAME})$", "is from"),
    _form("state", 0.92, "ikn", rf"{_BE}(?P<object>{_STATES})$", "is known to be"),
    _form("role", 0.9, "ik", rf"{_BE}{_PRAISE}(?:an?|the) (?P<object>{_WORD}.*?)$", "is a", soft=True),
    _form("condition", 0.9, "tb", rf"{_BE}(?P<object>{_CONDITIONS})$", "is"),
    _form("participle", 0.92, "tb", rf"{_BE}(?P<verb>{_PARTICIPLES}){_REST}"),
    _form("closed", 0.92, "itb", rf"{_BE}(?P<verb>(?:closed|open|shut) (?:on|in|from|until|between)){_REST}"),
    _form("when", 0.92, "tb", rf"{_BE}(?:on|at|in|every|due)\s+(?P<object>{_WHEN}.*?)$", _SCHEDULED),
    _form("value", 0.92, "tb", rf"{_BE}(?P<object>(?:from |between |number |every |version |at |about |around"
        rf" |roughly |v)?(?:{_WHEN}|{_NUMBER}).*?)$", "is"),
    _form("place", 0.9, "t", rf"{_BE}(?P<object>{_PLACE}.*?)$", "is", soft=True),
    _form("identity", 0.92, "t", rf"{_BE}(?P<object>(?:(?:an?|the) )?{_NAME}.*?)$", "is", soft=True),
    _form("identity", 0.92, "tb", rf"{_BE}(?P<object>\w*[\d@#/_.-][\w@#/_.-]*)$", "is", soft=True),
    _form("moved on", 0.9, "tb", rf"{_HAVE}(?:moved|changed|switched|shifted) to (?P<object>{_WHEN}.*?)$", _SCHEDULED),
    _form("moved", 0.92, "ikn",
          rf"{_HAVE}(?:moved|relocated)(?: back| house)? to{_REST}", "lives in", past=True, cut=True),
    _form("switched", 0.92, "ikn", rf"{_HAVE}(?:switched|migrated|moved over"
        rf"|changed)(?: from .+?)? to{_REST}", "uses", cut=True),
    _form("goes on", 0.9, "ikn", rf"(?:['’]ve|['’]m|['’]s| have| has| am| is"
        rf"| are)(?: been)? (?P<doing>{'|'.join(_GOES_ON)}){_REST}", soft=True, cut=True),
    _form("became", 0.9, "ikn", rf"{_HAVE}(?:became|become|been promoted to|(?:was|were) promoted to)(?: an?"
        rf"| the)? (?P<object>\S.*?)$", "is a", soft=True, past=True),
    _form("hired", 0.9, "ikn", rf"{_HAVE}(?:got|started|landed|found|took)(?: (?:an? |my )?(?:new )?job"
        rf"| work(?:ing)?| out)? (?P<verb>at|as|for) {_PRAISE}(?P<object>\S.*?)$", soft=True, past=True, cut=True),
    _form("born", 0.95, "ikn", r" (?:was|were) born (?P<object>(?:in|on) \S.*?)$", "was born"),
    _form("changed", 0.9, "tb", rf" (?:was|were|has been|have been) (?P<verb>{_CHANGES}){_REST}"),
    _form("timed", 0.92, "ikntb",
          rf" {_ADVERB}(?P<verb>{_TIMED} (?:at|on|in|from|between|until|every))\s+(?P<object>{_WHEN}.*?)$"),
    _form("measure", 0.92, "ikntb",
          rf" {_ADVERB}(?P<verb>(?:cost|charge|pay|weigh|last|take)s?)\s+(?P<object>{_NUMBER}(?: of)?\b.*?)$"),
    _form("has", 0.9, "iknt",
          rf"(?:['’]ve got| {_ADVERB}(?:has|have)(?: got)?) (?P<object>(?:{_NUMBER}|(?:its|his|her"
          rf"|their) own) {_WORD}.*?)$", "has", cut=True),
    _form("has", 0.9, "ikn",
          r" (?:have|has) (?P<object>an? (?:dog|cat|son|daughter|sister|brother|twin|(?:\w+ )?allergy)\b.*?|asthma"
          r"|diabetes"
          r"|epilepsy|coeliac disease|arthritis|migraines?|hay fever)$", "has", cut=True),
    _form("not eaten", 0.92, "ikn",
          rf" (?P<verb>(?:can['’]?t|cannot|don['’]?t|doesn['’]?t|do not|does not|never) (?:eat|drink|smoke"
          rf"|drive)){_REST}"),
    _form("lives", 0.9, "ikn", rf" {_ADVERB}(?P<verb>{_LIVES}){_REST}", soft=True),
    _form("lasts", 0.9, "tn", rf" {_ADVERB}(?P<verb>{_LASTS}){_REST}", soft=True),
    _form("team", 0.85, "t", rf" {_ADVERB}(?P<verb>{_LIVES}){_REST}", soft=True),
    _form("turned", 0.9, "ikn", rf"{_HAVE}(?:even )?got (?P<object>{_TURNED})$", "is", past=True),
    _form("turned", 0.9, "ikn", rf"{_HAVE}(?:was|were|been) (?P<object>{_TURNED})$", "is", past=True),
    _form("did", 0.85, "ikn",
          rf"{_HAVE}(?:also |even )?(?P<verb>{_DID}) (?:this (?=\w+ \w))?(?P<object>{_ONE}.*?)$",
          soft=True, past=True, cut=True),
    _form("attended", 0.85, "ikn",
        rf"{_HAVE}(?:also |even )?(?P<verb>{_ATTENDED}) (?P<object>(?:an?|the|my|our) {_NAME}(?: (?:{_OCCASION})\b.*?)?"
        rf"|an? (?:[\w+-]+ ){{0,3}}?(?:{_OCCASION})\b.*?|{_NAME})$", soft=True, past=True, cut=True),
    _form("took up", 0.85, "ikn",
          rf"{_HAVE}(?:also |even )?started (?P<doing>{'|'.join(_GOES_ON)}){_REST}", soft=True, cut=True),
    _form("did", 0.85, "ikn", rf"{_HAVE}(?:also |even )?(?P<verb>opened|built|started|finished|completed) "
          rf"(?P<object>{_ONE}"
          rf"(?:[\w+-]+ ){{0,3}}?(?:{_LASTING})\b.*?)$", soft=True, past=True, cut=True),
    _form("got", 0.9, "ikn", rf"{_HAVE}(?:also |even )?got (?P<object>(?:an?|another) (?:[\w-]+ ){{0,2}}?"
        rf"(?:{_OBTAINED})s?\b.*?)$", "has", past=True, cut=True),
    _form("owns", 0.9, "ikn", rf"(?:['’]ve got| {_ADVERB}(?:have|has)(?: got)?) (?P<object>an? (?:[\w-]+ ){{0,2}}?"
        rf"(?:{_OWNED})\b.*?)$", "has", soft=True, cut=True),
    _form("likes", 0.85, "ikn", rf" (?:(?:really|absolutely|also|just|always|truly|both|all) )*"
        rf"(?P<verb>loves?|likes?|enjoys?|hates?|dislikes?)\s+(?P<object>{_GENERIC}.*?)$", soft=True),
    _form("fan", 0.85, "ikn",
          rf"{_BE}(?:an? )?(?:[\w-]+ )?fans? of (?P<object>{_GENERIC}.*?)$", "is a fan of", soft=True),
    _form("member", 0.85, "ikn", rf"{_BE}(?:an? )?(?:\w+ )?(?:part|members?) of "
        rf"(?P<object>(?:the|an?) {_WORD}.*?|{_NAME})$", "is a member of", soft=True),
    _form("is in", 0.85, "ikn", rf"{_BE}(?:based |still )?in (?P<object>(?:the )?{_NAME})$", "is in"),
    _form("raised", 0.92, "ikn", r" (?P<verb>grew up) in\s+(?P<object>\S.*?)$", "grew up in"),
    _form("since", 0.92, "ikn", rf"(?:['’]ve|['’]s| have| has) been (?:an? )?"
        rf"(?P<object>(?:{_STATES})(?: (?:since|for) .+)?)$", "is known to be"),
)  # fmt: skip

# Where a clause begins and ends.

_OPENERS = re.compile(
    r"(?:(?:yes|yep|yeah|no|nope|nah|sure|ok|okay|well|you know|um|uh|so|and|but|also|oh|ah|hi|hello|hey|wow|thanks"
    r"|noted|sorry|fyi|btw|heads up|by the way|anyway|actually|currently|now|today|these days|from now on|ps|p\.s\."
    r"|update|note|news|unfortunately|luckily|sadly|fun fact|guess what|as for me|on another note"
    r"|speaking of [\w ]{2,20}|best of all|reminder|ok so|right|great|cool|congrats|mostly|personally|finally|recently"
    r"|in general|as of (?:now|today)|dear [\w ]{1,30}|(?:welcome|hi|hello|hey|thanks)[\w ]{0,25}|(?:after|before|since"
    r"|in|on|at|during|for|as) [\w' ]{2,40}|last \w+|this \w+|[\w' -]{2,30}(?=:))\s*[,:!.–—-]+\s+|(?:so|and|but|well"
    r"|now|ok|um|today|currently|actually|also|fyi|btw|that|as|(?:just )?yesterday"
    rf"|last (?:{_DAY}|fri|week|month|year|weekend|night|summer|winter|spring|fall)(?=,? (?:i|we|my|our)\b))\s+)+",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"(?:[;,:]|(?<=\w)-)\s+(?:and |but |so |because |since |while |whereas )?"
    r"|\s(?:and|but|so|because|while|whereas|since)\s"
    r"|\s[–—-]+\s"
)
_TAIL = re.compile(
    r"(?:,? (?:because|['’]?cause|since (?=\w+ (?:is|are|went|was))|so that|as (?=i|we|it|the )|which|who|where"
    r"|although|though|but|while|whereas|when|after|until|so (?=(?:i|we|it|the|you|he|she|they|my|our)\b))\b.*|, (?:and"
    r"|so|by the way|btw|though|too|as (?:always|usual|you know)|you asked|finally|right|i |we |he |she |it |they |you "
    r"|not |please|in (?:the|our|my) ).*|\s\(.*\)|\s[–—-]+\s.*|[;:]\s.*|,? (?:(?:about|around|over|almost|nearly"
    r"|just) )?(?:an? |a few |a couple of |\w+ )?(?:days?|weeks?|months?|years?) ago|,? (?:so much|a lot|either"
    r"|yesterday|lately|so far|here|there|today|together)|,? for (?:a|an|the (?:past|last)|about|around|over|almost"
    r"|nearly|some|many|\w+) (?:\w+ )?(?:bit|while|time|days?|weeks?|months?|years?)(?: or so)?|,? (?:in (?:early "
    r"|late )?|last )(?:mon|tues?|wed|thurs?|fri|sat|sun)|,? (?:now|nowadays|these days|right now|at the moment|btw"
    r"|by the way|currently|too|as well|again|already|finally"
    rf"|since (?:last |{_MONTH}|\d).*|last (?:week|month|year|summer|winter|spring|autumn|fall)"
    r"|this (?:week|month|quarter|year|term|season)|recently|:\)|:\(|:D|❤.*))+[\s.!,]*$",
    re.IGNORECASE,
)
_APPENDED = re.compile(rf",\s+(?!(?:in )?{_NUMBER}|{_DAY}|(?-i:[A-Z][\w-]+)$|{_MONTH}).*$", re.IGNORECASE)
_NEXT_CLAUSE = re.compile(
    r"(?:,| and| or) (?:and )?(?:(?:i|we|you|he|she|it|they|there|that|this)\b|(?:(?:my|our|his|her|its|their|the|a"
    r"|an) )?"
    rf"(?:{_WORD} ){{1,4}}?(?:is|are|was|were|has|have|will|plays?|takes?|costs?|lives?|works?|runs?|uses?|teaches"
    rf"|walks?|starts?"
    r"|opens?|closes?|made|looks)\b|(?:is|are|was|were|has|have|will|takes?|plays?|lives?|works?|wears?|uses?|speaks?"
    r"|teaches"
    r"|needs?|wants?|likes?|loves?|still|got|find)\b).*$",
    re.IGNORECASE,
)
_ELSE = re.compile(
    r"(?:,|;|\s[–—-])\s+(?P<asks>(?:and |but |so )?(?:which|what|how|where|when|why|who|can|could|do|does|did|should"
    r"|would|will|any|shall|(?:is|are) (?!(?:it|that|this|he|she|they|not)\b))\b[^?]*\?)|(?:,|;|\s[–—-])?\s+(?:and|but"
    r"|so)\s+(?:now )?(?:i|we|you|he|she|it|they|that|there|this|my|our|the|no|please|thats|im|ive|ill|its|dont)\b|(?:,"
    r"|;|\s[–—-])\s+(?:(?:i|we|he|she|they|that|it|you)(?:['’](?:d|ll|s|m|re|ve))?|that|please|ask|see|call"
    r"|text|come|check|try|let me)\s",
    re.IGNORECASE,
)
"""Start of a clause that turns to another subject."""
_OFFERED = re.compile(r",? (?:if|in case) you (?:need|want|like|care|wonder|ask|ever)\b[^,]*$", re.IGNORECASE)
"""Not a condition: it tells whom the statement may help."""
_TAKES_BACK = _any(
    r"\b(?:i (?:think|guess|believe|suppose|hope|heard|bet|wish)|not sure|right|correct|huh|kidding|joking|jk|lol|haha+"
    r"|yeah|maybe(?! (?:i|we|you) (?:should|could|can)\b)|perhaps|apparently|supposedly|(?:he|she|they|who|you"
    r"|(?-i:[A-Z]\w+)) (?:said|says|told)|isn|aren|weren|wasn|doesn|didn|if|unless|as long as|provided"
    r"|lie|lying|dream\w*|untrue|false|wrong"
    r"|sold|gave|returned|cancell?ed|died|quit|mine|ended|they (?:tell|say))\b|[😂🤣😜😉🙄]|/s\b",
)
"""Wording of a clause that takes back the preceding one."""
_VAGUE = re.compile(
    r"(?:it|this|that|these|those|them|him|her|you|your|me|us|one|so|there|here|something|anything|everything|nothing"
    r"|someone|yours?|mine|what|how|who|which|to|very|too|really|quite|pretty|more|less|much|as|like|well|up|out|off"
    r"|over|down|back|good|great|fine|nice|around|together|such|many|lots|some|every \w+ of|a (?:lot|bit|ton|bunch|few"
    r"|huge|big"
    r"|great|good))\b",
    re.IGNORECASE,
)
_AIM = re.compile(r"\bto (?!\d|(?:the|a|an|my|our|his|her|their)\b)(?-i:[a-z]{2,})", re.IGNORECASE)
_FEELS = _any(
    r"\b(?:dreams?|support|passion\w*|journey|heart|feelings?|goals?|potential|awesome|amazing|exciting|true|roles?|joy"
    r"|happiness|memories|difference|important|fun|happy|sad|success\w*|progress|positiv\w*|self|soul|spirit|life"
    r"|lives)\b"
)
_ACCOMPANIES = re.compile(
    rf"(?:,| that | (?:back )?in {_MONTH}| on {_MONTH} \d| on the \d| since | in (?:the )?hopes? of "
    r"| (?:lately|recently|now|today)$).*$",
    re.IGNORECASE,
)
"""Words after an object that add details or a time."""
_POINTS = re.compile(r"\b(?:them|it|him|her|you|this|that|these|those|there|too|one)$", re.IGNORECASE)
_SOME_JOB = re.compile(r"(?:a|another) (?:new |great |better )*(?:job|gig)(?: to .*)?", re.IGNORECASE)
_ABSTRACT = _any(
    r"\b(?:time|care|breaks?|steps?|notes|turns?|advantage|ideas?|pictures?|pics?|photos?|shots?|lots?|few|bunch|chance"
    r"|feelings?|sense|conversation|chat|talk|race|fight|battle|war|war|game|bet|track|touch|hope|weight|way|mind"
    r"|interest|sleep|count|voice|temper|fire|new (?:chapter|phase|journey|life)|list|thread|one|of (?:them|those|these"
    r"|it))\b"
)
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)
_COUNTED = _any(
    r"\b(?:questions?|meetings?|ideas?|things?|options?|minutes?|hours?|days?|weeks?|points?|issues?|problems?|choices?"
    r"|calls?|appointments?|reasons?|suggestions?|more|of (?:them|those|these|us))\b"
)
_FINITE = _any(r"\s(?:is|are|was|were|has|had|have|will|happens?|comes?|goes|makes?)\s")
_MOST_WORDS = 10
_OF_THINGS = frozenset({"when", "participle", "closed", "condition", "moved on", "changed"})


def english_statements(sentence: str, author: str) -> Iterator[Statement]:
    """Yield the statements of a sentence by `author`; none if it asks, orders, doubts or reports others."""
    own = _plain_part(_OFFERED.sub("", _untitled(sentence)))
    opened = _opened(own)
    for start in _starts(own):
        statement = _read(own[start:], author, opening=start <= opened)
        if statement is not None:
            yield statement


def _plain_part(sentence: str) -> str:
    """Return a sentence without trailing clauses that ask, wish or plan and turn to another subject; nothing if the
    rest is not plain either.
    """
    if is_plain_english(sentence):
        return sentence
    for found in reversed(list(_ELSE.finditer(sentence))):
        head, tail = sentence[: found.start()], sentence[found.start() :]
        if (
            not _TAKES_BACK.search(tail)
            and (found["asks"] or not tail.rstrip().endswith("?"))
            and is_plain_english(head)
        ):
            return head
    return ""


def is_plain_english(sentence: str) -> bool:
    """Return whether a sentence neither asks, orders, supposes, doubts nor quotes."""
    own = _untitled(sentence)
    if _DOUBTED.search(own) or _QUOTE.search(own):
        return False
    return not any(guard.search(own[at:]) for guard in (_ASKS, _ORDERS) for at in {0, _opened(own)})


def _untitled(sentence: str) -> str:
    """Return a sentence without the quotation marks around names and titles."""
    return _TITLE.sub(lambda found: found[1] if _titled(sentence, found) else found[0], sentence)


def _opened(sentence: str) -> int:
    """Return the index where a sentence starts after its opening words."""
    opener = _OPENERS.match(sentence)
    return opener.end() if opener else 0


def _titled(sentence: str, found: re.Match[str]) -> bool:
    """Return whether quotation marks hold a name or title: after a copula, without a verb of their own."""
    before = sentence[: found.start()].rstrip().casefold()
    return before.endswith((" is", " are", " called", " named"))


def _starts(sentence: str) -> list[int]:
    """Return where a clause may start: the sentence itself, after its opening words, and after each break."""
    starts = {0} | {found.end() for found in _BREAK.finditer(sentence)}
    return sorted({at + _opened(sentence[at:]) for at in starts})


def _read(clause: str, author: str, *, opening: bool) -> Statement | None:
    """Return the statement of a clause; None if it does not start with a subject that stands for itself."""
    clause = _clause(clause)
    for form in _FORMS:
        found = form.pattern.match(clause)
        if found is None:
            continue
        said = found.groupdict() | {"object": _object(form, found)}
        if _stands(form, said, clause, opening=opening):
            return _statement(form, said, author)
    return None


def _object(form: _Form, found: re.Match[str]) -> str:
    """Return the object; for a form that cuts it, without the aim and whatever follows."""
    object_ = found["object"].strip(" .!,;:")
    if form.cut or (found.groupdict().get("verb") or "").casefold() in ("use", "uses"):
        object_ = _ACCOMPANIES.sub("", re.sub(r"^(?:my|our) ", "", _AIM.split(object_)[0].strip()))
    return object_


def _clause(text: str) -> str:
    """Return a clause without its accompaniments and the clause after it."""
    text = _CONTRAST.sub("", text.strip().rstrip(".!… "))
    before = None
    while before != text:
        before = text
        text = _APPENDED.sub("", _TAIL.sub("", _NEXT_CLAUSE.sub("", text))).rstrip(" .!,;:")
    return text


def _statement(form: _Form, said: Mapping[str, str | None], author: str) -> Statement:
    by_author = said.get("i") is not None
    subject, object_ = str(said["subject"]).strip(" ,"), str(said["object"])
    predicate = form.predicate or _predicate(form, said)
    if predicate == _SCHEDULED and subject.casefold().endswith("s"):
        predicate = predicate.replace("is", "are", 1)
    subject = _whose(_plain(form, subject), author, by_author=by_author)
    return Statement(subject, predicate, object_, form.name, form.confidence, by_author)


def _plain(form: _Form, subject: str) -> str:
    """Return the name of a thing without the capital of a sentence's start, so that it is the same everywhere."""
    plain = form.name in _OF_THINGS or (form.name == "timed" and (" " in subject or subject.endswith("s")))
    return subject[0].lower() + subject[1:] if plain and re.fullmatch(r"[A-Z][a-z]+(?: [a-z]+)*", subject) else subject


def _predicate(form: _Form, said: Mapping[str, str | None]) -> str:
    if said.get("doing"):
        return _GOES_ON[" ".join(str(said["doing"]).casefold().split())]
    if form.name == "hired":
        return f"works {said['verb']}"
    verb = " ".join(str(said["verb"]).casefold().split())
    if form.past:
        return verb
    if said.get("be"):
        plural = str(said["be"]).strip().casefold() in {"are", "'re", "’re"}
        return f"{'are' if plural else 'is'} {verb}"
    return _third_person(verb)


def _third_person(verb: str) -> str:
    """Return the third-person form of a verb, so that a predicate is the same for every subject."""
    denied = re.match(r"(can['’]?t|cannot|\w+n['’]?t|do(?:es)? not|never) (.+)", verb)
    if denied:
        return f"{'cannot' if denied[1].startswith('can') else 'does not'} {denied[2]}"
    first, _, rest = verb.partition(" ")
    if not first.endswith(("s", "ed", "ght")):
        first = f"{first[:-1]}ies" if first.endswith("dy") else f"{first}{'es' if first.endswith('ch') else 's'}"
    return f"{first} {rest}".strip()


def _stands(form: _Form, said: Mapping[str, str | None], clause: str, *, opening: bool) -> bool:
    """Return whether the subject and the object are clear by themselves."""
    subject, object_ = str(said["subject"]), str(said["object"])
    if not object_ or len(object_.split()) > _MOST_WORDS or _VAGUE.match(object_):
        return False
    if _POINTS.search(object_) or (form.name == "got" and _SOME_JOB.fullmatch(object_)):
        return False
    if _FLEETING.search(clause) and not form.past:
        return False
    if form.cut and _ABSTRACT.search(object_):
        return False
    if form.name != "not eaten" and _DENIES.search(clause):
        return False
    if form.name in ("identity", "value") and _FINITE.search(object_):
        return False
    if form.name == "has" and _COUNTED.search(object_):
        return False
    if form.soft and (_AIM.search(object_) or _FEELS.search(object_ if form.cut else clause)):
        return False
    return said.get("i") is not None or (_names(subject, opening=opening) and _agrees(form, subject, said))


def _names(subject: str, *, opening: bool) -> bool:
    """Return whether words may be a subject; without an article or capital only at the start of a sentence."""
    first, *others = re.split(r"['’,]?\s|['’]", subject.casefold(), maxsplit=1)
    owned = first in ("my", "our", "the")
    if first in _NO_SUBJECT or _GERUNDS.match(others[0] if owned and others else first):
        return False
    return opening or owned or subject[0].isupper()


def _agrees(form: _Form, subject: str, said: Mapping[str, str | None]) -> bool:
    """Return whether a verb in the present tense is third-person, like the subject."""
    verb = said.get("verb")
    if (
        not verb
        or said.get("be")
        or form.name == "hired"
        or (" " in verb and verb.split()[0].endswith(("n't", "n’t", "cannot", "not", "never")))
    ):
        return True
    first = verb.casefold().split()[0]
    plural = subject.casefold().endswith("s") or " and " in subject
    return (
        first.endswith(("s", "ed", "ght", "'t")) or plural or first in ("can", "can't", "cannot", "do", "does", "never")
    )


def _whose(subject: str, author: str, *, by_author: bool) -> str:
    """Return the subject meant: the author for "I", and theirs for "my"."""
    if by_author:
        return author
    own = re.match(r"(?:my|our)\s+", subject, re.IGNORECASE)
    if own:
        return f"{author}'s {subject[own.end() :]}"
    return _ARTICLE.sub("", subject)
