"""Alphabets: which encoding a header line has whose letters are Japanese, Korean, Chinese, Cyrillic or Greek."""

from __future__ import annotations

import re

MOSTLY = 4  # letters of another alphabet from which a header line is taken to be in it
VOWELS = {"cp1251": "аеёиоуыэюяАЕЁИОУЫЭЮЯіїє", "cp1253": "αεηιουωάέήίόύώΑΕΗΙΟΥΩΆΈΉΊΌΎΏ"}
# signs that are common in headers, by encodings with pairs of bytes from 0xA1 on; other pairs seldom make one of them
PAIRS = {
    "euc_kr": "가간개거건격결계고과관교구국군금급기나날남녀년노단당대도동등득량력령름만매명목무문물민번별보부분비사"
    "산상생서석선성세소수순시식신아액업여역연열영외용원월위유율육은의이인일입자장적전점제조족종주준중지직"
    "진집차처체총축출치코태택퇴특판평포표품학합항행혼화회호후",
    "euc_jp": "一事人会住体価入出分別利前力加動区単受合名員品商回国地域場売変女婚学定家対居届年度府庁店当性所手数新"
    "方日時月有期未業様歳歴氏況満点産用番男町発県真社称種積等算籍系級結続職育能行計記話調質路身車販通進道"
    "部都配重量金門間電順項額類齢号施設付状態市",
    "gb18030": "一上下业个中主事人付代价份位体作使供保信借值健入公共关其出分别利制前力办功加务动区医单卡历县发口可号"
    "合名否员品售商因国地址型城备大天女姓婚学字存定客室家密对居属层岁工市平年应序度店户房所手技护投抚教数"
    "文料断方日时明是景月期本机村来果查标校格次款正民水法注活测消源满点父率班理生用申电男病的目省码科秒种"
    "称移程税积立章等类级组结统编缴者职联能自行表被计订认证试话账质购费资超路身车转轻达运还进退通速邮部配"
    "酒采重量金销长门间限院额龄",
}
KANA = re.compile("[\u3041-\u30f6]")


def of_pairs(line: bytes) -> str | None:
    """The encoding of a header line whose bytes above 128 all come in pairs, by the common signs that they make.

    Most of the pairs are common in the encoding, and more of them than in any other.
    """
    runs = re.findall(rb"[\x80-\xff]+", line)
    if any(len(run) % 2 or min(run) < 0xA1 or max(run) > 0xFE for run in runs):
        return None
    common = {}
    for name, signs in PAIRS.items():
        text = b"".join(runs).decode(name, "replace")
        kana = KANA.findall(text) if name == "euc_jp" else []
        common[name] = (sum(sign in signs for sign in text) + len(kana)) / max(1, len(text))
    first, second = sorted(common.values(), reverse=True)[:2]
    return max(common, key=common.__getitem__) if first > max(0.5, second) else None


def of_letters(line: bytes) -> str | None:
    """The encoding of a header line that is not UTF-8 and has mostly letters of another alphabet than the Latin one.

    In Western European text no word is of accented letters alone. Shift JIS has no half kana in headers, which other
    pairs of bytes would be read as; Korean, Chinese and Japanese in pairs are recognised by common signs; Cyrillic and
    Greek are distinguished by vowels, and no byte may be one that the encoding lacks.
    """
    plain = sum(chr(b).isalpha() for b in line if b < 128)
    high = [b for b in line if b >= 128]
    if len(high) < MOSTLY or len(high) <= plain or 0 in line:
        return None
    try:
        japanese = line.decode("shift_jis")
    except UnicodeDecodeError:
        japanese = ""
    if japanese and not re.search("[\uff61-\uff9f]", japanese) and any(0x81 <= b <= 0x9F for b in high):
        return "shift_jis"
    if (pairs := of_pairs(line)) is not None:
        return pairs
    vowels = {name: sum(c in letters for c in line.decode(name, "replace")) for name, letters in VOWELS.items()}
    best = max(vowels, key=vowels.__getitem__)
    text = line.decode(best, "replace")
    words = [] if "\ufffd" in text else re.findall(r"[^\W\d_]+", text)
    whole = sum(len(w) for w in words if all(ord(c) > 0x300 for c in w))
    return best if words and vowels[best] >= len(high) / 4 and 2 * whole > sum(map(len, words)) else None
