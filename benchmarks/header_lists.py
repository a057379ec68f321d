"""Headers as facts: those that name a person or a thing of a person's, in seven languages, and those of public tables.

Each language has two halves, written before the words of the grammar were and by the same hand; on the second nothing
was tuned. Pairs hold headers that name one, and others. Of a public table, the headers after the bar name persons,
records of them or things of theirs.
"""

from __future__ import annotations

# fmt: off
IDENTIFYING: dict[str, tuple[str, str]] = {
    "English": (
        "account_no, accountNumber, card_number, CreditCardNumber, mrn, participant, participant_no, phone, "
        "phone_number, iban, patient_number, PatientNo, employee_no, employeeNumber, vin, passport, passport_no, "
        "ssn, nino, nhs_number, customer_key, client_code, clientRef, subject_code, pupil no, student number, "
        "member_id, membership_no, user id, driver_licence_no, license_plate, policy_number, contract_no, email, "
        "EmailAddress, e-mail, mobile, full_name, first_name, LastName, surname, taxpayer_id, medical record "
        "number, hospital number, staff_id, insured_no, pid, respondent_id, case_id",
        "acct_num, cust_no, custid, loyalty_card_no, participantID, subj_id, Subject Number, pat_id, payroll "
        "number, staff number, tenant_ref, borrower_id, claimant number, voter_id, UPN, learner ref, "
        "registration_plate, national_insurance_number, social security number, SocialSecurityNo, driving licence "
        "number, tax_id, given name, forename, family_name, customer name, user_name, home phone, "
        "cell_phone_number, work_email, ip_address, device_id, imei, bank_account_number, sort_key_account_no, "
        "medicare_no, beneficiary_id, household_id, hhid, guest_no, passengerID, donor number, prisoner_no, "
        "applicant_id, chassis number, contact number, personnel_number, subscriber_no, policyholder_id, patient "
        "reference",
    ),
    "German": (
        "Kundennummer, Kunden-Nr, KdNr, Patientennummer, PatNr, Personalnummer, PersNr, Versichertennummer, "
        "Versicherungsnummer, Matrikelnummer, Steuer-ID, Kontonummer, Kartennummer, Vorname, Nachname, "
        "Telefonnummer, E-Mail-Adresse, Fahrzeug-Identifizierungsnummer, Kennzeichen, Kundenkennzeichen, "
        "Mitgliedsnummer, Fallnummer, Probanden-ID, TeilnehmerNr, Versicherten_ID",
        "Kundenkennung, kunden_id, Mitarbeiternummer, mitarbeiter_id, Angestelltennummer, Ausweisnummer, "
        "Personalausweisnummer, Reisepassnummer, Führerscheinnummer, Sozialversicherungsnummer, "
        "Rentenversicherungsnummer, Krankenversichertennummer, Steuernummer, Handynummer, Mobilnummer, Telefon, "
        "Schülernummer, Studierendennummer, Vertragsnummer, Policennummer, Patientenkennung, Patientenschlüssel, "
        "Probandennummer, Familienname, Geburtsname, Aktenzeichen, Haushaltsnummer, Teilnehmercode, "
        "Versichertenkennzeichen, AHV-Nummer, Kundenschlüssel, Mandantennr, Mietername, Kreditkartennummer, "
        "Fahrgestellnummer, Benutzername",
    ),
    "French": (
        "numero_client, NumClient, code_client, id_client, numéro de compte, numero_patient, nom, prénom, "
        "téléphone, courriel, numéro de sécurité sociale, NIR, matricule, num_assure, immatriculation",
        "no_dossier_patient, identifiant_patient, Nom de famille, nom_prenom, adresse e-mail, numero_telephone, "
        "numero de carte, n° client, num_adherent, IdSalarie, numero_passeport, numéro de permis, numero_contrat, "
        "code_patient, code_adherent, numéro d'assuré, identifiant_eleve, num_etudiant, nom_usage, ref_client, "
        "portable, numéro_fiscal, IPP",
    ),
    "Spanish": (
        "numero_cliente, id_cliente, codigo_cliente, dni, nie, nif, nombre, apellidos, telefono, "
        "correo_electronico, numero_cuenta, num_paciente, pasaporte, matrícula, numero_empleado",
        "cod_paciente, NumeroHistoriaClinica, primer_apellido, segundo apellido, nombre_completo, numero de "
        "tarjeta, numero_afiliado, numero de seguridad social, curp, rut, cedula, id_paciente, idUsuario, "
        "clave_alumno, codigo_estudiante, num_poliza, celular, numero_asegurado, id_socio, CodEmpleado, "
        "nombre_paciente, movil",
    ),
    "Italian": (
        "codice_fiscale, numero_cliente, codice_cliente, id_paziente, cognome, nome, telefono, numero_tessera, "
        "targa, matricola, numero_conto",
        "cod_paziente, id_utente, nome_cognome, cellulare, numero passaporto, numero_patente, codice_dipendente, "
        "numero_polizza, codice_assistito, numero_carta, id_socio, codiceStudente, partita_iva, numero_di_telefono, "
        "nominativo, indirizzo_email",
    ),
    "Dutch": (
        "bsn, klantnummer, patientnummer, patiënt_id, personeelsnummer, achternaam, voornaam, telefoonnummer, "
        "kenteken, rekeningnummer, polisnummer",
        "burgerservicenummer, klant_id, klantcode, klantnr, deelnemernummer, medewerkernummer, leerlingnummer, "
        "studentnummer, lidnummer, paspoortnummer, rijbewijsnummer, mobiel nummer, verzekerdennummer, polis_nr, "
        "gebruikersnaam, werknemer_id, cliëntnummer, contractnummer, e-mailadres, kaartnummer",
    ),
    "Portuguese": (
        "cpf, numero_cliente, codigo_cliente, id_paciente, nome, sobrenome, telefone, numero_conta, matricula, "
        "numero_cartao, nome_completo",
        "cod_paciente, NumeroUtente, numero_prontuario, cns, pis, rg, celular, telemovel, cod_aluno, id_usuario, "
        "numero_apolice, numero_do_passaporte, apelido, numero_funcionario, CodCliente, cartão_sus, número de "
        "contribuinte, id_aluno, nome_paciente, placa",
    ),
}
ORDINARY = (  # headers beside those of tables that are named like one and are none
    "postcode, country_code, icd_code, number_of_children, room_no, order, key_stage, age, phone_owner, card_type, "
    "account_type, passport_country, member_of_union, no_of_visits, telephone_interview, customer_segment, "
    "patient_age, number_of_accounts, num_customers, nombre_de_clients, numero_de_hijos, Anzahl Kunden, "
    "Kundengruppe, Kundenart, Patientenzahl, Kontoart, Kontostand, Mitgliederzahl, Telefonanschluss, Vertragsart, "
    "Versicherungsart, Postleitzahl, code_postal, code_insee_commune, nb_enfants, tipo_cliente, tipo_de_cuenta, "
    "saldo_conto, aantal_klanten, klanttype, quantidade_clientes, código_postal, idade, no_show, has_phone, "
    "email_opt_in, policy_type, contract_type, plate_count, client_since, user_rating, driver_age, vin_year, "
    "product_id, product_name, country_name, file_name, icd10, diagnosis_code, procedure_code, zip_code, area_code, "
    "house_number, Hausnummer, Zimmernummer, Artikelnummer, Produktcode, ordre, monkey, casino, piano, valid, "
    "period, hybrid, number_of_employees, employee_count, staff_grade, insured, driver, tenant_type, "
    "student_teacher_ratio, household_size, household_income, family_size, card_present, visit_number, wave_no, "
    "item_no, batch_number, flight_number, phone_model, mobile_os, last_contact, contact_type"
)
# name of a public table: its ordinary headers | those that name persons, their records or things of theirs
TABLES: dict[str, str] = {
    "Iris": "sepal_length, sepal_width, petal_length, petal_width, species, species_id",
    "Titanic": "Survived, Pclass, Sex, Age, SibSp, Parch, Fare, Cabin, Embarked | PassengerId, Name",
    "Adult": (
        "age, workclass, fnlwgt, education, education-num, marital-status, occupation, relationship, race, sex, "
        "capital-gain, capital-loss, hours-per-week, native-country, income"
    ),
    "German Credit": (
        "checking_status, duration, credit_history, purpose, credit_amount, savings_status, employment, "
        "installment_commitment, personal_status, other_parties, residence_since, property_magnitude, age, "
        "other_payment_plans, housing, existing_credits, job, num_dependents, own_telephone, foreign_worker, class"
    ),
    "Bank Marketing": (
        "age, job, marital, education, default, balance, housing, loan, contact, day, month, duration, campaign, "
        "pdays, previous, poutcome, emp.var.rate, cons.price.idx, cons.conf.idx, euribor3m, nr.employed, y"
    ),
    "Pima": (
        "Pregnancies, Glucose, BloodPressure, SkinThickness, Insulin, BMI, DiabetesPedigreeFunction, Age, Outcome"
    ),
    "Diabetes 130": (
        "race, gender, age, weight, admission_type_id, discharge_disposition_id, admission_source_id, "
        "time_in_hospital, payer_code, medical_specialty, num_lab_procedures, num_procedures, num_medications, "
        "number_outpatient, number_emergency, number_inpatient, diag_1, number_diagnoses, max_glu_serum, A1Cresult, "
        "metformin, insulin, change, diabetesMed, readmitted | encounter_id, patient_nbr"
    ),
    "Heart Disease": "age, sex, cp, trestbps, chol, fbs, restecg, thalach, exang, oldpeak, slope, ca, thal, num",
    "Breast Cancer": (
        "diagnosis, radius_mean, texture_mean, perimeter_mean, area_mean, smoothness_mean, concavity_mean, "
        "symmetry_mean, fractal_dimension_mean | id"
    ),
    "Wine Quality": (
        "fixed acidity, volatile acidity, citric acid, residual sugar, chlorides, free sulfur dioxide, density, pH, "
        "sulphates, alcohol, quality"
    ),
    "California Housing": (
        "longitude, latitude, housing_median_age, total_rooms, total_bedrooms, population, households, "
        "median_income, median_house_value, ocean_proximity"
    ),
    "Boston": "CRIM, ZN, INDUS, CHAS, NOX, RM, AGE, DIS, RAD, TAX, PTRATIO, B, LSTAT, MEDV",
    "Ames": (
        "MSSubClass, MSZoning, LotFrontage, LotArea, Street, Alley, LotShape, LandContour, Utilities, LotConfig, "
        "Neighborhood, Condition1, BldgType, HouseStyle, OverallQual, OverallCond, YearBuilt, YearRemodAdd, "
        "RoofStyle, Exterior1st, MasVnrType, Foundation, BsmtQual, Heating, CentralAir, KitchenQual, TotRmsAbvGrd, "
        "Functional, GarageType, PavedDrive, PoolArea, Fence, MiscVal, MoSold, YrSold, SaleType, SalePrice | Id, "
        "PID"
    ),
    "Auto MPG": "mpg, cylinders, displacement, horsepower, weight, acceleration, model_year, origin, car name",
    "mtcars": "mpg, cyl, disp, hp, drat, wt, qsec, vs, am, gear, carb",
    "Diamonds": "carat, cut, color, clarity, depth, table, price, x, y, z",
    "Airquality": "Ozone, Solar.R, Wind, Temp, Month, Day",
    "ChickWeight": "weight, Time, Chick, Diet",
    "infert": "education, age, parity, induced, case, spontaneous, stratum, pooled.stratum",
    "sleep": "extra, group | ID",
    "Penguins": "species, island, bill_length_mm, bill_depth_mm, flipper_length_mm, body_mass_g, sex, year",
    "Penguins raw": (
        "studyName, Sample Number, Species, Region, Island, Stage, Clutch Completion, Date Egg, Culmen Length (mm), "
        "Flipper Length (mm), Body Mass (g), Sex, Delta 15 N (o/oo), Comments | Individual ID"
    ),
    "NYC Flights": (
        "year, month, day, dep_time, sched_dep_time, dep_delay, arr_time, arr_delay, carrier, flight, tailnum, "
        "origin, dest, air_time, distance, hour, minute, time_hour"
    ),
    "Gapminder": "country, continent, year, lifeExp, pop, gdpPercap, iso_alpha, iso_num, centroid_lon, centroid_lat",
    "Star Wars": (
        "height, mass, hair_color, skin_color, eye_color, birth_year, sex, gender, homeworld, species, films, "
        "vehicles, starships | name"
    ),
    "Tips": "total_bill, tip, sex, smoker, day, time, size",
    "Telco Churn": (
        "gender, SeniorCitizen, Partner, Dependents, tenure, PhoneService, MultipleLines, InternetService, "
        "OnlineSecurity, OnlineBackup, DeviceProtection, TechSupport, StreamingTV, Contract, PaperlessBilling, "
        "PaymentMethod, MonthlyCharges, TotalCharges, Churn | customerID"
    ),
    "Bank Churn": (
        "CreditScore, Geography, Gender, Age, Tenure, Balance, NumOfProducts, HasCrCard, IsActiveMember, "
        "EstimatedSalary, Exited | RowNumber, CustomerId, Surname"
    ),
    "IBM HR": (
        "Age, Attrition, BusinessTravel, DailyRate, Department, DistanceFromHome, Education, EducationField, "
        "EmployeeCount, EnvironmentSatisfaction, Gender, HourlyRate, JobInvolvement, JobLevel, JobRole, "
        "JobSatisfaction, MaritalStatus, MonthlyIncome, NumCompaniesWorked, Over18, OverTime, PercentSalaryHike, "
        "PerformanceRating, StockOptionLevel, TotalWorkingYears, WorkLifeBalance, YearsAtCompany, "
        "YearsWithCurrManager | EmployeeNumber"
    ),
    "Online Retail": "StockCode, Description, Quantity, InvoiceDate, UnitPrice, Country | InvoiceNo, CustomerID",
    "Superstore": (
        "Order Date, Ship Date, Ship Mode, Segment, Country, City, State, Postal Code, Region, Product ID, "
        "Category, Sub-Category, Product Name, Sales, Quantity, Discount, Profit | Row ID, Order ID, Customer ID, "
        "Customer Name"
    ),
    "Student Performance": (
        "school, sex, age, address_type, famsize, Pstatus, Medu, Fedu, Mjob, Fjob, reason, guardian, traveltime, "
        "studytime, failures, schoolsup, famsup, paid, activities, nursery, higher, internet, romantic, famrel, "
        "freetime, goout, Dalc, Walc, health, absences, G1, G2, G3"
    ),
    "Mushroom": (
        "class, cap-shape, cap-surface, cap-color, bruises, odor, gill-attachment, stalk-root, veil-type, "
        "ring-number, ring-type, spore-print-color, population, habitat"
    ),
    "Abalone": "Sex, Length, Diameter, Height, Whole weight, Shucked weight, Viscera weight, Shell weight, Rings",
    "Bike Sharing": (
        "instant, dteday, season, yr, mnth, hr, holiday, weekday, workingday, weathersit, temp, atemp, hum, "
        "windspeed, casual, registered, cnt"
    ),
    "OWID Covid": (
        "iso_code, continent, location, date, total_cases, new_cases, total_deaths, reproduction_rate, "
        "icu_patients, hosp_patients, total_tests, positive_rate, people_vaccinated, stringency_index, population, "
        "median_age, gdp_per_capita, diabetes_prevalence, handwashing_facilities, life_expectancy"
    ),
    "NHANES": (
        "SDDSRVYR, RIDSTATR, RIAGENDR, RIDAGEYR, RIDRETH3, DMDEDUC2, DMDMARTL, INDHHIN2, INDFMPIR, WTINT2YR, BMXBMI "
        "| SEQN"
    ),
    "ACS": (
        "RT, DIVISION, PUMA, REGION, ST, PWGTP, AGEP, CIT, COW, DDRS, ENG, FER, JWMNP, MAR, SCHL, SEX, WAGP, WKHP, "
        "HISP, OCCP, PINCP, POVPIP, RAC1P | SERIALNO, SPORDER"
    ),
    "1940 Census": (
        "COUNTY, URBAN, METRO, METAREA, CITY, CITYPOP, SIZEPL, URBPOP, SEA, WARD, GQ, GQTYPE, FARM, OWNERSHP, RENT, "
        "VALUEH, ENUMDIST, SUPDIST, SPLIT, SLREC, RESPONDT, FAMSIZE, NCHLT5, SEX, AGE, AGEMONTH, MARST, MARRNO, "
        "AGEMARR, CHBORN, RACE, HISPAN, BPL, NATIVITY, CITIZEN, MTONGUE, SPANNAME, HISPRULE, SCHOOL, HIGRADE, EDUC, "
        "EMPSTAT, LABFORCE, OCC, IND, CLASSWKR, WKSWORK1, HRSWORK1, DURUNEMP, UOCC, INCWAGE, INCNONWG, OCCSCORE, "
        "SEI, MIGRATE5, MIGPLAC5, SAMEPLAC, VETSTAT, VETPER, SSENROLL"
    ),
    "Drug Deaths": (
        "Date, Age, Sex, Race, Residence State, Death County, Location, Location if Other, Injury County, Heroin, "
        "Cocaine, Fentanyl, Ethanol, Methadone, Morphine (Not Heroin), Xylazine, Any Opioid, CardioCondition | ID"
    ),
    "COMPAS": (
        "compas_screening_date, sex, dob, age, age_cat, race, juv_fel_count, decile_score, juv_misd_count, "
        "priors_count, days_b_screening_arrest, c_jail_in, c_jail_out, c_days_from_compas, c_charge_degree, "
        "c_charge_desc, is_recid, r_charge_degree, vr_offense_date, type_of_assessment, score_text, in_custody, "
        "start, end, event, two_year_recid | id, name, first, last, c_case_number, r_case_number"
    ),
    "Heart Failure": (
        "age, anaemia, creatinine_phosphokinase, diabetes, ejection_fraction, high_blood_pressure, platelets, "
        "serum_creatinine, serum_sodium, sex, smoking, time, DEATH_EVENT"
    ),
    "Insurance": "age, sex, bmi, children, smoker, region, charges",
    "Hotel Bookings": (
        "hotel, is_canceled, lead_time, arrival_date_year, arrival_date_week_number, stays_in_weekend_nights, "
        "adults, children, babies, meal, country, market_segment, distribution_channel, is_repeated_guest, "
        "previous_cancellations, reserved_room_type, booking_changes, deposit_type, days_in_waiting_list, "
        "customer_type, adr, required_car_parking_spaces, total_of_special_requests, reservation_status | name, "
        "email, phone-number"
    ),
    "Loan Prediction": (
        "Gender, Married, Dependents, Education, Self_Employed, ApplicantIncome, CoapplicantIncome, LoanAmount, "
        "Loan_Amount_Term, Credit_History, Property_Area, Loan_Status | Loan_ID"
    ),
    "Lending Club": (
        "loan_amnt, funded_amnt, term, int_rate, installment, grade, sub_grade, emp_title, emp_length, "
        "home_ownership, annual_inc, verification_status, issue_d, loan_status, pymnt_plan, url, desc, purpose, "
        "title, zip_code, addr_state, dti, delinq_2yrs, fico_range_low, open_acc, pub_rec, revol_bal, total_acc, "
        "application_type, policy_code, num_accts_ever_120_pd, acc_now_delinq, tot_coll_amt | id, member_id"
    ),
    "Credit Default": (
        "LIMIT_BAL, SEX, EDUCATION, MARRIAGE, AGE, PAY_0, BILL_AMT1, PAY_AMT1, default payment next month | ID"
    ),
    "HMEQ": "BAD, LOAN, MORTDUE, VALUE, REASON, JOB, YOJ, DEROG, DELINQ, CLAGE, NINQ, CLNO, DEBTINC",
    "Framingham": (
        "male, age, education, currentSmoker, cigsPerDay, BPMeds, prevalentStroke, prevalentHyp, diabetes, totChol, "
        "sysBP, diaBP, BMI, heartRate, glucose, TenYearCHD"
    ),
    "lung": "inst, time, status, age, sex, ph.ecog, ph.karno, pat.karno, meal.cal, wt.loss",
    "Hitters": (
        "AtBat, Hits, HmRun, Runs, RBI, Walks, Years, CAtBat, League, Division, PutOuts, Assists, Errors, Salary"
    ),
    "CPS1985": "wage, education, experience, age, ethnicity, region, gender, occupation, sector, union, married",
    "Affairs": "affairs, gender, age, yearsmarried, children, religiousness, education, occupation, rating",
    "STAR": (
        "gender, ethnicity, birth, stark, star1, readk, read1, mathk, lunchk, schoolk, degreek, ladderk, "
        "experiencek, tethnicityk, systemk, schoolidk"
    ),
    "GSOEP": "school, gender, kids, meducation, memployment, income, size, order, marital, meducat, year",
    "TravelMode": "mode, choice, wait, vcost, travel, gcost, income, size | individual",
    "NYC Taxi": (
        "vendor_id, rate_code, store_and_fwd_flag, pickup_datetime, dropoff_datetime, passenger_count, "
        "trip_time_in_secs, trip_distance, pickup_longitude, payment_type, fare_amount, tolls_amount | medallion, "
        "hack_license"
    ),
    "Chicago Crime": (
        "Date, Block, IUCR, Primary Type, Description, Location Description, Arrest, Domestic, Beat, District, "
        "Ward, Community Area, FBI Code, X Coordinate, Year, Updated On, Latitude, Location | ID, Case Number"
    ),
    "Airbnb": (
        "neighbourhood_group, neighbourhood, latitude, longitude, room_type, price, minimum_nights, "
        "number_of_reviews, last_review, reviews_per_month, calculated_host_listings_count, availability_365, "
        "license | id, host_id, host_name, name"
    ),
    "MovieLens": "movieId, rating, timestamp, title, genres, gender, age, occupation, zip_code | userId",
    "Spotify": (
        "track_id, track_name, album_name, popularity, duration_ms, explicit, danceability, energy, key, loudness, "
        "mode, speechiness, tempo, time_signature, track_genre"
    ),
    "MIMIC Admissions": (
        "admittime, dischtime, deathtime, admission_type, admission_location, discharge_location, insurance, "
        "language, marital_status, race, edregtime, hospital_expire_flag, icd_code, icd_version, seq_num, careunit, "
        "itemid, charttime, valuenum, valueuom, ndc | order_provider_id, subject_id, hadm_id, stay_id, row_id"
    ),
    "Eurostat LFS": (
        "COUNTRY, REFYEAR, REFWEEK, HHTYPE, SEX, AGE, NATIONAL, COUNTRYB, WSTATOR, NACE1D, ISCO1D, STAPRO, FTPT, "
        "TEMP, HWUSUAL, HATLEV1D, INCDECIL, COEFF | HHNUM, HHSEQNUM"
    ),
    "US Accidents": (
        "Source, Severity, Start_Time, End_Time, Start_Lat, Distance(mi), Description, Street, City, County, State, "
        "Zipcode, Country, Timezone, Airport_Code, Weather_Timestamp, Temperature(F), Weather_Condition, Amenity, "
        "Crossing, Junction, Sunrise_Sunset | ID"
    ),
    "Stroke": (
        "gender, age, hypertension, heart_disease, ever_married, work_type, Residence_type, avg_glucose_level, bmi, "
        "smoking_status, stroke | id"
    ),
    "Berka": (
        "district_id, frequency, date, type, operation, amount, balance, k_symbol, bank_to, status, issued, "
        "payments | account_id, client_id, disp_id, card_id, trans_id, account_to"
    ),
    "Chess Games": (
        "rated, created_at, turns, victory_status, winner, increment_code, white_rating, black_rating, moves, "
        "opening_eco, opening_name, opening_ply | id, white_id, black_id"
    ),
    "World Happiness": (
        "Country or region, Overall rank, Score, GDP per capita, Social support, Healthy life expectancy, Freedom "
        "to make life choices, Generosity, Perceptions of corruption"
    ),
    "Mobile Prices": (
        "battery_power, blue, clock_speed, dual_sim, fc, four_g, int_memory, m_dep, mobile_wt, n_cores, pc, "
        "px_height, ram, sc_h, talk_time, three_g, touch_screen, wifi, price_range"
    ),
}
# of public database schemas and data dictionaries, gathered when the grammar stood; what they showed was mended
SCHEMAS = (
    "customer_DNI, customer_surname, numeroCliente, idCliente, nombre_cliente, correo_cliente, telefono_cliente, "
    "direccion, id_direccion, num_tdc, k_nummer, k_vorname, k_nachname, k_telefonnummer, kreditkartenNr, "
    "kundennummer, fullName, firstname, lastname, phone1, phone2, noAssuranceMaladie, nomParent, numero_dossier, "
    "dossierNumber, phoneNumber, medical_record_number, ContactpersoonID, KlantID, klantnummer, Telefoonnummer, "
    "mobiel nummer, PatNum, LName, FName, nif, surname1, phone_contact, nhsnum, related_patient_id, id_patient, "
    "mobile_number, cf_medico, cf_paziente, tel_contatto, nominativo_contatto, id_cartella, tessera_sanitaria, "
    "numero_tessera_sanitaria, usuario_id, paciente_id, NomeCompleto, contato, customer_email, customer_phone, "
    "dl_nbr, first_nm, last_nm, hhid, lexid, agentLicense, policyHolderID, claimNumber, POLICY_REF, claim_no, "
    "policy_no, subscriber_id, member_id, CPF_Cliente, Celular_Cliente, Endereco_Cliente, Cod_Cliente, "
    "Nome_Cliente, códigocliente, patient_mrn, Card Number, Telephone number, Mobile Phone, Address 1, IdCliente, "
    "idEmpleado, número_reclamo, número_boleta, Strasse",
    "tipo_cliente, hausnummer, hnr, Huisnummer, busnummer, codigo_postal, plz, cap, bairro, NAIC_CODE, insured_zip, "
    "insured_sex, insured_occupation, insured_hobbies, insured_relationship, policy_state, policy_csl, "
    "policy_bind_date, policy_deductable, policy_annual_premium, months_as_customer, relationship_cd, "
    "medical_plan_code, plan_tier, eligibility_status, POLICY_SYMBOL_CD, POLICY_STATUS_CD, POLICY_VERSION_CD, "
    "TRANS_CODE, customer_state, customer_segment, claimType, claimDate, amountClaimed, policyType, driver_rating, "
    "total_claim_amount, incident_type, incident_hour_of_the_day, number_of_vehicles_involved, bodily_injuries, "
    "witnesses, company_name, agencyName, coverageName, website, codigo_ibge, cod_municipio, Klant_logo, PatStatus, "
    "zipCode, is_active, antecedents, villeDeNaissance, birthplace, luogo_nascita, dateNaissance, gSanguin, "
    "profissao, escolaridade, estado_civil, convenio, plano_saude, stato_di_salute_paziente, tipo_intervento, "
    "esito, specializzazione, birthdate, membership_end_date, marketing_consent, privacy_consent, adl_segmentation, "
    "dl_state, fecha_vencimiento, NumDependents, gemeente, geslacht, leeftijd, Ort, Anrede, Geburtstag",
)
# the same, gathered after that: of the first, 52 of 97 were known before what they showed was mended too
LATER = (
    "clave_alu, ap_paterno, ap_materno, nombre_usuario, APELLIDO_PATERNO, id_alumno, alumno_id, primer_apellido, "
    "document_number, cellphone, id_telefono, Primer_Nombre, DPI, medicoNombre, medicoTelefono, dni_alumno, "
    "dni_apoderado, PersonalSSN, MA_ID, Behandlungsnummer, Patientennummer, steuernummer, kontoinhaber, "
    "notfall_name, notfall_tel, health_insurance_number, user_id, employee_number, ID_ADHERANT, NOM_ADHERANT, "
    "PRENOM_ADHERANT, TEL_ADHERANT, ADRESSE_ADHERANT, NumAbonne, TelMobile, NumPermis, RIBfourni, A_LOGIN, A_EMAIL, "
    "numero_licence, nom_adh, prenom_adh, pseudo_adh, tel_adh, gsm_adh, email_adh, adresse2_adh, id_adh, "
    "urgency_telephone, Formno, Father_name, Adhaar_Number, Pan_Number, Card_Num, customerName, fatherName, "
    "motherName, husbandName, presentAddress, permanentAddress, mobileNumber, telephoneNumber, drivingLicenseNo, "
    "eTinID, ac_no, cname, account_num, addhaar_num, candidate_id, aadhaar, pan, idNumber, panNumber, "
    "introducer_id, nominee, numero_telefono, IdDipendente, TelefonoAziendale, NomeDipendente, CognomeDipendente, "
    "codiceDipendente, ndoc, lidnummer, mobielnummer, PersoneelsID, rijksregister, adres_id, voertuig_id, "
    "tankkaart_id, chName, enName, pessoa_key, cpf_cnpj, rg_document, cpf_document, cnh, num_registro",
    "regis_date, isactive, id_tipo, DIA, MES, tipoSangre, problemaFisico, zonaResidencia, distanciaKM, "
    "tipo_relacion, Hausnummer, Stellentyp, Gehalt, Station, Geburtsdatum, Schrittweite, bank_name, "
    "fuehrerschein_klassen, fuehrerschein_gueltig_bis, pin_set, DateNaissance, CodePostal, LieuPermis, DAtePermis, "
    "PaimentAdhesion, TarifMensuel, CodeFormule, LibelleFormule, id_statut, titre_adh, cp_adh, ville_adh, pays_adh, "
    "url_adh, Marital_status, Pincode, Religion, Existing_Account, Account_type, Facility, is_account_num_verified, "
    "ifsc_code, idType, TipologiaDipendente, cap_d, civico_d, soortlid, huisnummer, betaald, rijbewijstype_id, "
    "artikelnr, artikelprijs, omschrijving, residenceCounty, categoria_habilitada, orgao_emissor, centroCusto, "
    "data_cadastro, cargo, fecha_registro, edad, medical_specialty, shift_code, job_title, nationality, "
    "session_number, duration_hours",
)
# a third half, written before the second change of the words, which knew 71 of it before and 86 after, with 16 false
# alarms; what it showed was mended since
THIRD = (
    "Client#, PolNum, TelNo, HomeTel, WorkPhone2, mailing_address, billing_street, shipping_addr_2, MemberCardNo, "
    "badge_number, library_card_no, screening_no, rand_no, enrollee_id, ENROLID, BENE_ID, CLM_ID, patient_uuid, "
    "customer_hash, phone_sha256, emp_code, custname, acct_holder, contact_name, employee_full_name, caller_id, "
    "mac_address, chart_no, UHID, roll_no, author_name, driver_name, next_of_kin_name, KdNummer, MitglNr, "
    "Handynr, Mailadresse, Wohnstraße, Straße_Hausnr, Anschrift, SteuerIdNr, SV_Nummer, PersNummer, "
    "Ansprechpartner, KtoNr, Patienten_UUID, AusweisNr, KFZ_Kennzeichen, num_tel, num_portable, adr_client, "
    "rue_patient, n° adhérent, nom_salarie, mail_pro, email_parent, tel_domicile, num_allocataire, no_cpte, "
    "numero_secu, IDPATIENT, adresse_postale, n_dossier, num_trabajador, cod_usuario, nro_documento, "
    "cedula_identidad, correo_alumno, tel_contacto, nombre_titular, calle_numero, domicilio, num_expediente, "
    "email_usuario, rut_cliente, id_trabajador, nro_cuenta, cod_fisc, nome_paziente, tel_cell, num_tessera, "
    "id_assistito, via_residenza, nr_cartella, email_paziente, intestatario, nr_polizza, targa_veicolo, "
    "telefono_casa, cod_dipendente, data_hash_utente, klant_nr, pat_nr, straatnaam, telnr, mobielnr, "
    "medewerkernr, client_bsn, rekeninghouder, naam_verzekerde, deelnemer_id, kentekennr, contactpersoon_naam, "
    "adresregel1, polisnr, huisarts_naam, cpf_aluno, nome_mae, nome_pai, matricula_servidor, rua_numero, "
    "email_responsavel, tel_celular, nr_beneficiario, num_processo, id_segurado, titular_conta, nr_utente, "
    "morada, nome_social",
    "genre_id, stop_id, route_no, line_no, gate_no, runway_no, port_code, vessel_type, hs_code, cpv_code, ean, "
    "upc, asin, barcode, bar_code, gtin, issn, doi, pmid, arxiv_id, journal_id, paper_title, volume_no, issue_no, "
    "page_no, chapter_no, verse_no, line_number, sentence_id, token_id, topic_id, label_id, class_id, image_id, "
    "frame_no, video_id, channel_id, playlist_id, track_no, disc_no, album_id, artist_genre, game_id, match_no, "
    "round_no, lap_no, stage_no, set_no, team_id, club, league_id, season_no, stadium_id, heat_no, lane, rank_no, "
    "sensor_id, meter_reading, probe_no, channel_no, signal_strength, firmware_version, serial_correlation, "
    "os_version, model_no, part_no, lot_no, batch_id, machine_type, shift_no, plant_id, process_step, job_class, "
    "task_type, pipeline_stage, commit_count, bug_severity, issue_type, priority_no, tax_rate, tax_class, "
    "tax_bracket, tax_paid, income_tax, account_age, account_balance, account_status, card_brand, card_limit, "
    "loan_amount, loan_purpose, loan_term, credit_score, credit_limit, policy_term, policy_status, claim_amount, "
    "claim_status, claim_type, premium, contract_length, contract_start, order_date, order_status, order_total, "
    "order_priority, invoice_date, invoice_total, payment_method, ticket_class, ticket_price, booking_channel, "
    "booking_lead_time, patient_sex, patient_weight, patient_count, subject_age, subject_group, trial_arm, "
    "site_no, visit_no, visit_date, dose_mg, cycle_no, lab_code, loinc_code, snomed_code, cpt_code, drg_code, "
    "ward_no, bed_no, specimen_type, sample_type, cell_type, cell_count, cell_line, student_level, student_age, "
    "school_code, course_no, exam_no, question_no, item_response, teacher_experience, class_size, employee_type, "
    "employee_age, employee_status, staff_count, member_since, member_tier, customer_age, customer_gender, "
    "client_type, user_age, user_type, users, user_count, driver_sex, vehicle_age, vehicle_type, vehicle_make, "
    "phone_type, mobile_usage, email_clicks, email_opened, mail_type, street_type, street_width, address_count, "
    "tel_contract, Straßentyp, Kundenalter, Vertragsdauer, Kartentyp, Bestellwert, Rechnungsbetrag, Linien_Nr, "
    "Gemeindeschlüssel, Produktnummer, type_client, montant_facture, code_insee, num_departement, nb_clients, "
    "tipo_via, edad_cliente, cod_provincia, num_hijos, tipo_utente, cod_comune, num_figli, importo_fattura, "
    "klantsegment, gemeentecode, straattype, idade_cliente, cod_municipio_ibge, num_filhos, tipo_conta, "
    "hash_rate, pan_size, sin_theta, inn_rating, via, pin_count",
)
# fmt: on
