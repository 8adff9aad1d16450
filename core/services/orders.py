"""Lines of a page that tell whoever answers what to say: they are no evidence. Pure.

A page may hold orders to a chat model. The prompt calls them data, but a model may obey; what it then writes
would stand word for word in its source. So lines that give such orders, look like the frame of a prompt or
hide letters support no sentence of a model. They are still quoted where a page is quoted.
"""

import re
import unicodedata

_MACHINE = (
    r"\b(?:assistant|chat ?bot|language model|llm|ki|ai|prompt|system prompt|developer|jailbreak"
    r"|assistent\w*|sprachmodell\w*|eingabeaufforderung|entwickler\w*"
    r"|ассистент\w*|помощник\w*|нейросет\w*|чат-?бот\w*|разработчик\w*|промпт\w*"
    r"|asistente|assistente|modèle de langage|modelo de lenguaje)\b"
)
"""Whoever answers, addressed as such."""

_OVERRULE = (
    r"\b(?:ignore|disregard|forget)\b.{0,40}"
    r"\b(?:instruction|rule|prompt|above|previous|prior|sources?|user)"
    r"|\bfrom now on\b|\bwhatever the question\b|\bno(?: \w+){0,3} rules\b|\bobey\b|\bdecode\b"
    r"|\bignorier\w*\b.{0,40}\b(?:anweisung|regel|vorgabe|quelle|bisherig)\w*|\bab jetzt\b"
    r"|\bhandle danach\b"
    r"|\bvergiss\b.{0,40}\b(?:anweisung|regel)\w*"
    r"|\b(?:забудь|игнорируй|не учитывай)\b.{0,40}\b(?:указан|инструкц|правил|предыдущ)\w*"
    r"|\bс этого момента\b"
    r"|\b(?:расшифруй|прочти)\b.{0,60}\bвыполни\b"
    r"|\bignorez?\b.{0,40}\binstruction|\bignora\b.{0,40}\binstruccion|\bignora\b.{0,40}\bistruzion"
)
"""Orders to leave the rules."""

_SAY = (
    r"say|write|print|repeat|output|reply|respond|answer|begin|start|end|finish|cite|add|render|show|list|include"
    r"|append|mention|confirm|refuse|call|send|list|put|insert|display|contain"
    r"|sage?|schreibe?|zeige?|gib|wiederhole?|antworte?|beginne?|beende|füge?|nenne|bestätige|erwähne|zitiere"
    r"|behaupte|führe|sende|melde|ergänze"
    r"|скажи|напиши|пиши|выведи|повтори|ответь|отвечай|начни|закончи|добавь|приведи|покажи|вставь|замени|упомяни"
    r"|подтверди|сообщи|отправь|ссылайся|назови|укажи|попроси"
    r"|réponds|écris|répète|affiche|responde|escribe|repite|muestra|rispondi|scrivi|ripeti"
)
_REPLY = (
    r"(?:every|each|your|any|only valid)\s+(?:answer|reply|response)s?|jede[rn]?\s+antwort"
    r"|(?:die|deine[rn]?)\s+antwort|ответ(?:е|ом|а|у)?|кажд\w+\s+(?:ответ|предложени)\w*"
    r"|every question|all questions|alle fragen|all other pages|alle anderen seiten|system prompt"
    r"|toutes les réponses|cada respuesta|ogni risposta"
)
_ABOUT_REPLY = (
    rf"\b(?:{_SAY})\b.{{0,60}}\b(?:{_REPLY})\b"
    rf"|\b(?:{_REPLY})\b.{{0,40}}\b(?:with|mit|must contain|beginnt|is|со? слова)\b"
    r"|\b(?:reply|respond|answer|antworte|ответь|отвечай)\b.{0,30}"
    r"\b(?:only|nur|ausschließlich|только|with|mit)\b"
)
"""What a reply is to say."""

_TO_A_MACHINE = (
    r"\b(?:выведи|повтори|подтверди|сообщи|вставь|упомяни|ссылайся|отправь|приведи|напиши)\b"
    r"|\brender (?:this|the)\b|\bcall the function\b|\bif you do not (?:write|say)\b|\bcite it as\b"
    r"|\bwiederhole das wort\b|\bbehaupte\b|\bzeige (?:zum schluss|zusätzlich)\b|\bmelde [„“\"«]"
    r"|\b(?:print|reveal|nenne|verrate)\b.{0,60}\b(?:tokens?|passwords?|zugangsdaten|passw\w+|\w+_token)\b"
)
"""What pages do not ask of people, at least not in this tone."""

_FRAME = (
    r"</?\s*(?:sources?|context|system|question|instructions?|script|img)\b|\[/?inst\]|<\|[^|\n]{1,20}\|>|</?s>"
    r"|^\s*(?:system|assistant|user|developer)\s*:"
    r"|^#{0,6}\s*(?:ende der quellen|end of (?:document|sources?)|anweisung)\b"
    r"|^\[\d+\]\s+(?:end of|title:)|конец источника|начало источника"
)
"""Pieces of a prompt and of markup."""

_ORDER = re.compile("|".join((_OVERRULE, _ABOUT_REPLY, _TO_A_MACHINE, _FRAME)), re.IGNORECASE | re.MULTILINE)
_ADDRESSED = re.compile(_MACHINE, re.IGNORECASE)
_SAYING = re.compile(rf"\b(?:{_SAY})\b", re.IGNORECASE)
_HIDDEN = 4
"""Invisible characters in a line from which it hides something; a soft hyphen or two is typography."""


def is_order(line: str) -> bool:
    """Whether a line tells whoever answers what to say or do."""
    hidden = sum(1 for one in line if unicodedata.category(one) == "Cf" and one not in "\u200d\u200c")
    bare = "".join(one for one in line if unicodedata.category(one) != "Cf")
    if hidden >= _HIDDEN or any(one in "\u202e\u202d\u2066\u2067" for one in line):
        return True
    return _ORDER.search(bare) is not None or (
        _ADDRESSED.search(bare) is not None and _SAYING.search(bare) is not None
    )


def without_orders(body: str) -> str:
    """A page's text as evidence: paragraphs with orders left out."""
    return "\n".join(line for line in body.split("\n") if not is_order(line))
