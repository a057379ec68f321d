"""Headers in encodings of East Asia: of usual words of tables, read by the header line alone."""

import pytest

from tests.tables.reading import read

HEADERS = {
    "big5": """
編號,姓名,性別,出生日期|年齡,性別,教育程度,婚姻狀況|縣市,鄉鎮,戶數,人口數|客戶編號,訂單日期,金額,付款方式|產品名稱,數量,單價,總計
學號,班級,國文,數學,英文|員工編號,部門,職稱,薪資|病歷號,診斷,入院日期,出院日期|時間,地點,溫度,濕度|車牌,廠牌,顏色,里程
學校,系所,年級,人數|收入,支出,餘額|投票所,候選人,得票數|門牌,樓層,面積,租金|保險種類,保費,理賠金額|日期,開盤價,收盤價,成交量
滿意度,職業,居住地區|身高,體重,血壓|公司名稱,統一編號,資本額,電話|藥品,劑量,醫師""",
    "gb18030": """
编号,姓名,性别,出生日期|年龄,性别,教育程度,婚姻状况|省份,城市,户数,人口|客户编号,订单日期,金额,支付方式|产品名称,数量,单价,合计
学号,班级,语文,数学,英语|工号,部门,职位,工资|病历号,诊断,入院日期,出院日期|时间,地点,温度,湿度|车牌号,品牌,颜色,里程|学校,专业,年级,人数
收入,支出,余额|投票站,候选人,得票数|楼层,面积,租金|保险类型,保费,理赔金额|日期,开盘价,收盘价,成交量|满意度,职业,居住地
身高,体重,血压|公司名称,注册资本,电话|药品,剂量,医生""",
    "euc_jp": """
番号,氏名,性別,生年月日|年齢,学歴,婚姻状況|都道府県,市区町村,世帯数,人口|顧客番号,注文日,金額,支払方法|商品名,数量,単価,合計
学籍番号,組,国語,数学,英語|社員番号,部署,役職,給与|診断名,入院日,退院日|日時,地点,気温,湿度|車種,色,走行距離|学校,学部,学年,人数
収入,支出,残高|投票所,候補者,得票数|階,面積,家賃|保険種類,保険料|日付,始値,終値,出来高|満足度,職業,居住地|身長,体重,血圧
会社名,資本金,電話番号|郵便番号,住所,担当者""",
    "shift_jis": """
番号,氏名,性別,生年月日|年齢,学歴,婚姻状況|都道府県,市区町村,世帯数,人口|顧客番号,注文日,金額,支払方法|商品名,数量,単価,合計
学籍番号,組,国語,数学,英語|社員番号,部署,役職,給与|診断名,入院日,退院日|日時,地点,気温,湿度|車種,色,走行距離|学校,学部,学年,人数
収入,支出,残高|投票所,候補者,得票数|階,面積,家賃|保険種類,保険料|日付,始値,終値,出来高|満足度,職業,居住地|身長,体重,血圧
会社名,資本金,電話番号|郵便番号,住所,担当者""",
    "euc_kr": """
번호,이름,성별,생년월일|나이,학력,결혼여부|시도,시군구,가구수,인구|고객번호,주문일자,금액,결제방법|상품명,수량,단가,합계
학번,반,국어,수학,영어|사번,부서,직급,급여|진단명,입원일,퇴원일|시간,장소,온도,습도|차종,색상,주행거리|학교,학과,학년,인원수
수입,지출,잔액|투표소,후보자,득표수|층,면적,임대료|보험종류,보험료|날짜,시가,종가,거래량|만족도,직업,거주지|키,몸무게,혈압
회사명,자본금,전화번호|우편번호,주소,담당자""",
}


def headers(encoding):
    return [h for line in HEADERS[encoding].strip().splitlines() for h in line.split("|")]


@pytest.mark.parametrize(("encoding", "header"), [(e, h) for e in HEADERS for h in headers(e)])
def test_a_header_of_usual_words_tells_its_encoding_alone(encoding, header):
    names = header.split(",")
    records = [b",".join([str(i).encode(), *[b"x"] * (len(names) - 1)]) for i in range(5)]
    assert read(b"\n".join([header.encode(encoding), *records, b""])).table.column_names == names


@pytest.mark.parametrize(
    "header",
    ["Größe,Länge,Höhe,Maß", "âge,été,élève,prénom", "Ålder,Kön,Län,Är", "edad,año,niño,baño", "Àrea,Població,Ú,Ó"],
)
def test_words_with_accents_stay_western_european(header):
    got = read(f"{header}\n1,2,3,4\n5,6,7,8\n".encode("cp1252"))
    assert got.table.column_names == header.split(",")


@pytest.mark.parametrize(
    "header", ["возраст,пол,регион,доход", "Дата;Товар;Цена;Количество", "ІМ'Я,СТАТЬ,ВІК", "код,год"]
)
def test_cyrillic_headers_are_no_chinese(header):
    got = read(f"{header}\n1,2,3\n5,6,7\n".encode("cp1251"), delimiter=";" if ";" in header else ",")
    assert got.table.column_names[0] == header.replace(";", ",").split(",")[0]


@pytest.mark.parametrize(
    ("encoding", "header"),
    [
        ("cp1250", "Nr ucznia;Szkoła;Województwo;Przedmiot"),
        ("cp1250", "Płeć;Wiek;Miejscowość;Wykształcenie"),
        ("iso8859_2", "Szkoła;Gęstość;Średnia"),
        ("cp1252", "Größe;Fläche m²;Volumen m³;n° client"),
        ("cp1252", "col·lectiu;l’âge;Preis £k;œuvre"),
    ],
)
def test_a_sign_within_a_word_is_a_letter_of_central_europe(encoding, header):
    got = read(f"{header}\n1;2;3;4\n5;6;7;8\n".encode(encoding))
    assert got.table.column_names[: header.count(";") + 1] == header.split(";")
