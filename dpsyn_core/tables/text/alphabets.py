"""Alphabets: which encoding a header line has whose letters are not those of Western Europe."""

from __future__ import annotations

import re

MOSTLY = 4  # letters of another alphabet from which a header line is taken to be in it
VOWELS = {"cp1251": "аеёиоуыэюяАЕЁИОУЫЭЮЯіїєІЇЄ", "cp1253": "αεηιουωάέήίόύώΑΕΗΙΟΥΩΆΈΉΊΌΎΏ"}
# signs that are common in headers, by encodings with two bytes a sign; other pairs of bytes seldom make one of them
PAIRS = {
    "euc_kr":
    "가각간갈감갑값강개객거건걸검격견결경계고곡골공과관광교구국군굴권귀규균극근글금급기길김까나난날남납내냉너년념"
    "노높농누는능니다단달담답당대더데도독돈동두득등디때라락란람래량러레려력련렬령례로록료루류률르름리린림립마막만"
    "말망매맥머면명모목몸무문물미민밀및박반받발방배백번벌범법변별병보복본봉부북분불비빈사산살삼상새색생서석선설성"
    "세센소속손송수숙순술스습승시식신실심쌀아악안암압액야약양어억언업에여역연열염영예오온완외요용우운원월위유육율"
    "으은을음응의이익인일임입자작잔장재저적전절점접정제조족존종좌주준중증지직진질집징차착참창채책처척천철청체초촌"
    "총최추축출충취측층치친침칭카커코크키타탁탄태택터텔통퇴투트특파판패편평폐포폭표품풍프피필하학한할함합항해행향"
    "허험현혈형호혼화확환활황회획효후휴히",
    "euc_jp":
    "一上下不世中主予事二交人今他付代以件任企休会伝位低住体何作使例供価便係保信個候借値停健側備債働先入全公共内円"
    "再写出分切列初判別利到制前割力功加助労効動務区医午半協単印危原去参友反収取受口号各合同名向告員周味命和品商問"
    "営器四回因団囲図国土在地型域基報場増声売変外多大天夫失女始委姓婚子字存季学宅安完官定客室家容密寄富実審対専小"
    "少局居届屋展属山島川州工左差市師帯常年広序店府度庫建引式強当形影役径待後従得復心必応性患情意感態成戸所手払技"
    "投折担持指授採接推提換損支改放政教数整文料断新方施旅族日早明星昼時普景更書替最月有服期木未末本材村来東果架査"
    "校株格案検業極構様標模権横機次欠歩歯歳歴死残段母毎比毛民気水決治況法波注活流海消液深清済減温測港湿満源準災点"
    "無照熱父物特状独率現理環生産用田男町画界留番異疾病症療発登白的目直相省県真眼着知短石研確示社票福科秒租移程税"
    "種称積空立競第等答算管箱節範米系約納紙級素索細終組経結給統続維線編総績置署者職育能自色芸花英荷薬行術街表被装"
    "製複西要見規視親観角解言計訂記設許診証評試話該詳認語誤説調請談論識議護負財貨販責費貸賃資賞質購走起超越足距路"
    "身車転軽載輸込近返退送通速造連週進運過道達違選郵部都配酒里重野量金鉄録長門開間関防降限院除険陽階際障集離雨雪"
    "電需震面音頁項順預頭題額顔願類風食飲養館首駅験高魚齢",
    "gb18030":
    "一上下不世专业东两个中主事二交产人今介仓付代以件任份企优会传伤位住体何作供保信修倍候借值假停健储元先入全公共"
    "关其具养内再写农决况净准减出分列则利别到制券前剂副力办功加务动助劳区医十升午半华单卖卡卫印历压厂原去县参友双"
    "反发取受变口可右号司各合同名后向员味和品商器四回因团国图地场址块城基增声处备复外多大天失头女好如始姓委婚子字"
    "存学它安完官定实审客室家容宽密富对导封小少尺局层居届属山岁岗工左差已市布师币带常干年广序库应底店度座康建开异"
    "式引张强当录形影往待得心必态性总息患情意感户房所手打执批技投折护报抵担持指按授排采接控推描提支收改放政故效教"
    "数整文料断新方施旅族日早时明是景更最月有服期木未本术机权来构果架查标校样核格案档检楼次款正步死比民气水汇江油"
    "治法波注测济海消涨液深清港湖湿温源满灾点热照父牌物特状率现班球理环生用由电男画界留疗疾病症登的皮监盘目直相省"
    "看真眼知短石码研确票种科秒租积称移程税立站章第等策签算管箱类精系素红级约纳纸组细终经结给络统续维编缴网置署者"
    "而耗职联股育背能自至航船色节花英范药获营行表被装西要见观规视角解计订认议记许设证评诊词试话该详语误说请调负财"
    "责账货质购贸费贷资赔起超距路身车转载较辆输边达过运近返还进远连退送选途通速造道邮部都配酒里重量金钟钱铁银销错"
    "键镇长门闭问间防阶际院除险集雨需面音页项顺预领频题颜额风食饮馆首验高龄",
    "big5":
    "一上下不世中主事二交人今介付代以件任份企位住何作來供保信個候借值假健側備傳債價儲元先入內全公共其具再出分列利"
    "別到前副力功加助動務勞區醫十升午半卡印原去參及友反取受口可右司各合同名向告命和品員問商單器四回因國圖地址城基"
    "場塊境外多大天夫女好如始姓委婚子字存學安完官定客室家容密實寫對導小少局居屆屋屬山崗工左差已市布師帳帶常幣年序"
    "底店度座庫康廠廣建式引強當形影往待後從得復心必性總患情意感態應戶房所手打批技投折抵持指按授排採接提換損支收改"
    "放政故效教數整文料斷新方施旅族日早明星時景更書最月有服期木未本東果架查校格案條棟業極標樓樣模機權次款正步歲歷"
    "死母每比民氣水江決油治法波注活流海消深液清減測港湖溫源準滿濕濟災無照熱營爭父牌物特狀獎率現理環班球產生用申男"
    "界留畫異疾病症療發登的皮盤目直省真眼知短石研碼確社票福科秒租移程稅種稱積立站競第等策算管箱範類米精系約級納紙"
    "素細終組結給統經線編縣績繳置署者聯聲職股育背能自至與航船色花英華藥號行術衛表被製複西要見規視親觀角解計訂記訊"
    "設許診註試話該詳認語誤說調請論證識議負財貨販責費貸貿資賃買賠賣質購起超距身路車載輛輸轉農近返退送通速造連週進"
    "運過道達遠選郵部都鄉配酒里重量金銀銷錄錢錯鍵鎮長門開間關防院除險陽階際集雙電需面音頁項順預頭題額顏風食飲餘館"
    "首高體點齡",
}  # fmt: skip
WITHIN = re.compile(r"(?<=[^\W\d_])[^\w\s\x00-\x7f](?=[^\W\d_])")  # a sign between two letters
DIGITS = dict.fromkeys(map(ord, "\u00b2\u00b3\u00b9"), "\u00a4")  # raised digits are signs, and no part of a word
KANA = re.compile("[\u3041-\u30f6]")


def of_pairs(line: bytes) -> str | None:
    """The encoding of a header line whose letters above 128 take two bytes, by the common signs that they make.

    Most of the signs are common in the encoding, and more of them than in any other. In Big5 the second byte may be
    one below 128; in the others all of these bytes come in pairs.
    """
    runs = re.findall(rb"[\x80-\xff]+", line)
    paired = not any(len(run) % 2 or min(run) < 0xA1 or max(run) > 0xFE for run in runs)
    common = {}
    for name in PAIRS if paired else ("big5",):
        text = line.decode(name, "replace")
        signs = [c for c in text if ord(c) > 127]
        kana = KANA.findall(text) if name == "euc_jp" else []
        mostly = 2 * len(signs) > sum(c.isascii() and c.isalpha() for c in text)
        common[name] = mostly * (sum(c in PAIRS[name] for c in signs) + len(kana)) / max(1, len(signs))
    first, second = sorted([*common.values(), 0.0], reverse=True)[:2]
    return max(common, key=common.__getitem__) if first > max(0.5, second) else None


def _of_central_europe(line: bytes) -> str | None:
    """The encoding that has letters where the one of Western Europe has a sign within a word: Szko³a is Szkoła."""
    western = line.decode("cp1252", "replace")
    if not WITHIN.search(western.translate(DIGITS)):
        return None
    for name in ("cp1250", "iso8859_2"):
        if all(c.isalpha() for c in line.decode(name, "replace") if ord(c) > 127):
            return name
    return None


def of_letters(line: bytes) -> str | None:
    """The encoding of a header line that is not UTF-8 and has mostly letters of another alphabet than the Latin one.

    In Western European text no word is of accented letters alone. Shift JIS has no half kana in headers, which other
    pairs of bytes would be read as; Korean, Chinese and Japanese in two bytes are recognised by common signs; Cyrillic
    and Greek are distinguished by vowels, and no byte may be one that the encoding lacks.
    """
    plain = sum(chr(b).isalpha() for b in line if b < 128)
    high = [b for b in line if b >= 128]
    if 0 in line:
        return None
    if len(high) < MOSTLY:
        return _of_central_europe(line) if 2 * len(high) <= plain else None
    try:
        japanese = line.decode("shift_jis") if len(high) > plain else ""
    except UnicodeDecodeError:
        japanese = ""
    if japanese and not re.search("[\uff61-\uff9f]", japanese) and any(0x81 <= b <= 0x9F for b in high):
        return "shift_jis"
    if (pairs := of_pairs(line)) is not None:
        return pairs
    if len(high) <= plain:
        return _of_central_europe(line)
    vowels = {name: sum(c in letters for c in line.decode(name, "replace")) for name, letters in VOWELS.items()}
    best = max(vowels, key=vowels.__getitem__)
    text = line.decode(best, "replace")
    words = [] if "\ufffd" in text else re.findall(r"[^\W\d_]+", text)
    whole = sum(len(w) for w in words if all(ord(c) > 0x300 for c in w))
    return best if words and vowels[best] >= len(high) / 4 and 2 * whole > sum(map(len, words)) else None
