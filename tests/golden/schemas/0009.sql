CREATE TABLE alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE answer (
    id integer NOT NULL,
    judge_id integer NOT NULL,
    topic_id integer NOT NULL,
    document_id integer NOT NULL,
    asked character varying(16) NOT NULL,
    judged_at timestamp with time zone,
    grade integer,
    unreadable character varying(16),
    topic_version integer,
    document_sha256 text,
    request_sha256 text NOT NULL,
    attempt integer NOT NULL,
    sent_at timestamp with time zone,
    received_at timestamp with time zone,
    status integer,
    body bytea NOT NULL,
    served_model bytea NOT NULL,
    fingerprint bytea NOT NULL,
    finish_reason bytea NOT NULL,
    prompt_tokens integer,
    cached_tokens integer,
    completion_tokens integer,
    reasoning_tokens integer,
    cost double precision,
    probabilities text,
    mass double precision,
    checksum integer
);
CREATE SEQUENCE answer_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE answer_id_seq OWNED BY answer.id;
CREATE TABLE assignment (
    id integer NOT NULL,
    topic_id integer NOT NULL,
    document_id integer NOT NULL,
    judge_id integer,
    "position" integer NOT NULL,
    purpose character varying(16) NOT NULL,
    lease_until timestamp with time zone,
    plan_id integer,
    display_order text DEFAULT 'docno'::text NOT NULL
);
CREATE SEQUENCE assignment_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE assignment_id_seq OWNED BY assignment.id;
CREATE TABLE assignment_plan (
    id integer NOT NULL,
    manifest text NOT NULL,
    lease_s integer,
    created_at timestamp with time zone NOT NULL,
    checksum integer
);
CREATE SEQUENCE assignment_plan_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE assignment_plan_id_seq OWNED BY assignment_plan.id;
CREATE TABLE carried (
    id integer NOT NULL,
    topic_id integer NOT NULL,
    document_id integer NOT NULL,
    source_id integer NOT NULL,
    shared integer NOT NULL,
    united integer NOT NULL,
    document_sha256 text NOT NULL,
    source_sha256 text NOT NULL,
    carried_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    checksum integer
);
CREATE SEQUENCE carried_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE carried_id_seq OWNED BY carried.id;
CREATE TABLE collection (
    id integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    scale text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    checksum integer,
    fields bytea
);
CREATE TABLE document (
    id integer NOT NULL,
    docno text NOT NULL COLLATE pg_catalog."C",
    listed boolean NOT NULL,
    title bytea,
    text bytea,
    sha256 text
);
CREATE SEQUENCE document_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE document_id_seq OWNED BY document.id;
CREATE TABLE document_metadata (
    document_id integer NOT NULL,
    markup character varying(16),
    fields bytea NOT NULL,
    checksum integer
);
CREATE TABLE erasure (
    id integer NOT NULL,
    uid character varying(16) NOT NULL,
    kind character varying(16) NOT NULL,
    judgements integer NOT NULL,
    events integer NOT NULL,
    erased_at timestamp with time zone NOT NULL,
    checksum integer
);
CREATE SEQUENCE erasure_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE erasure_id_seq OWNED BY erasure.id;
CREATE TABLE guideline (
    id integer NOT NULL,
    version integer NOT NULL,
    text bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    checksum integer
);
CREATE SEQUENCE guideline_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE guideline_id_seq OWNED BY guideline.id;
CREATE TABLE judge (
    id integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    kind character varying(16) NOT NULL,
    disabled boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    uid character varying(16) NOT NULL,
    renamed_at timestamp with time zone,
    checksum integer
);
CREATE TABLE judge_code (
    judge_id integer NOT NULL,
    sha256 text NOT NULL,
    made_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE judge_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE judge_id_seq OWNED BY judge.id;
CREATE TABLE judge_term (
    id integer NOT NULL,
    judge_id integer NOT NULL,
    topic_id integer NOT NULL,
    "position" integer NOT NULL,
    term bytea NOT NULL,
    checksum integer
);
CREATE SEQUENCE judge_term_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE judge_term_id_seq OWNED BY judge_term.id;
CREATE TABLE judgement (
    id integer NOT NULL,
    topic_id integer NOT NULL,
    document_id integer NOT NULL,
    judge_id integer NOT NULL,
    revision integer NOT NULL,
    action character varying(16) NOT NULL,
    undoes integer,
    state character varying(16) NOT NULL,
    grade integer,
    reason bytea NOT NULL,
    note bytea NOT NULL,
    iteration text NOT NULL COLLATE pg_catalog."C",
    display_order text,
    "position" integer,
    shown_at timestamp with time zone,
    judged_at timestamp with time zone NOT NULL,
    dwell_ms integer,
    active_ms integer,
    dropped_keys integer NOT NULL,
    guideline_version integer,
    document_sha256 text,
    sitting_id integer,
    follows integer,
    settled character varying(16),
    topic_version integer,
    checksum integer,
    CONSTRAINT grade_when_judged CHECK ((((state)::text = 'judged'::text) = (grade IS NOT NULL)))
);
CREATE SEQUENCE judgement_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE judgement_id_seq OWNED BY judgement.id;
CREATE TABLE model_judge (
    judge_id integer NOT NULL,
    identity bytea NOT NULL,
    sha256 text NOT NULL,
    family bytea NOT NULL,
    prompt bytea,
    stated_at timestamp with time zone NOT NULL,
    checksum integer
);
CREATE TABLE passage (
    id integer NOT NULL,
    judgement_id integer NOT NULL,
    start integer NOT NULL,
    length integer NOT NULL,
    text bytea NOT NULL,
    checksum integer
);
CREATE SEQUENCE passage_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE passage_id_seq OWNED BY passage.id;
CREATE TABLE pool (
    id integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    round text NOT NULL COLLATE pg_catalog."C",
    manifest text NOT NULL,
    display_order text NOT NULL,
    withdrawn boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    checksum integer
);
CREATE TABLE pool_entry (
    pool_id integer NOT NULL,
    topic_id integer NOT NULL,
    document_id integer NOT NULL,
    "position" integer NOT NULL,
    priority double precision,
    stratum integer,
    inclusion_probability double precision,
    sampled boolean DEFAULT true NOT NULL,
    checksum integer
);
CREATE SEQUENCE pool_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE pool_id_seq OWNED BY pool.id;
CREATE TABLE pool_run (
    pool_id integer NOT NULL,
    run_id integer NOT NULL
);
CREATE TABLE pool_topic (
    pool_id integer NOT NULL,
    topic_id integer NOT NULL,
    budget integer NOT NULL,
    checksum integer
);
CREATE TABLE ranking (
    run_id integer NOT NULL,
    topic_id integer NOT NULL,
    length integer NOT NULL,
    document_ids bytea NOT NULL,
    scores bytea NOT NULL,
    ranks bytea,
    positions bytea NOT NULL,
    codec integer NOT NULL,
    checksum integer
);
CREATE TABLE run (
    id integer NOT NULL,
    tag text NOT NULL COLLATE pg_catalog."C",
    "group" text NOT NULL COLLATE pg_catalog."C",
    contributes boolean NOT NULL,
    priority integer NOT NULL,
    sha256 text NOT NULL,
    file bytea NOT NULL,
    imported_at timestamp with time zone NOT NULL,
    checksum integer,
    header bytea
);
CREATE SEQUENCE run_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE run_id_seq OWNED BY run.id;
CREATE TABLE sitting (
    id integer NOT NULL,
    judge_id integer NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    host text NOT NULL,
    process integer NOT NULL,
    program text NOT NULL,
    topic_id integer
);
CREATE SEQUENCE sitting_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE sitting_id_seq OWNED BY sitting.id;
CREATE TABLE topic (
    id integer NOT NULL,
    number text NOT NULL COLLATE pg_catalog."C",
    listed boolean NOT NULL,
    title bytea NOT NULL,
    description bytea NOT NULL,
    narrative bytea NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    changed_at timestamp with time zone,
    checksum integer
);
CREATE SEQUENCE topic_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE topic_id_seq OWNED BY topic.id;
CREATE TABLE topic_version (
    topic_id integer NOT NULL,
    version integer NOT NULL,
    title bytea NOT NULL,
    description bytea NOT NULL,
    narrative bytea NOT NULL,
    changed_at timestamp with time zone,
    checksum integer
);
ALTER TABLE ONLY answer ALTER COLUMN id SET DEFAULT nextval('answer_id_seq'::regclass);
ALTER TABLE ONLY assignment ALTER COLUMN id SET DEFAULT nextval('assignment_id_seq'::regclass);
ALTER TABLE ONLY assignment_plan ALTER COLUMN id SET DEFAULT nextval('assignment_plan_id_seq'::regclass);
ALTER TABLE ONLY carried ALTER COLUMN id SET DEFAULT nextval('carried_id_seq'::regclass);
ALTER TABLE ONLY document ALTER COLUMN id SET DEFAULT nextval('document_id_seq'::regclass);
ALTER TABLE ONLY erasure ALTER COLUMN id SET DEFAULT nextval('erasure_id_seq'::regclass);
ALTER TABLE ONLY guideline ALTER COLUMN id SET DEFAULT nextval('guideline_id_seq'::regclass);
ALTER TABLE ONLY judge ALTER COLUMN id SET DEFAULT nextval('judge_id_seq'::regclass);
ALTER TABLE ONLY judge_term ALTER COLUMN id SET DEFAULT nextval('judge_term_id_seq'::regclass);
ALTER TABLE ONLY judgement ALTER COLUMN id SET DEFAULT nextval('judgement_id_seq'::regclass);
ALTER TABLE ONLY passage ALTER COLUMN id SET DEFAULT nextval('passage_id_seq'::regclass);
ALTER TABLE ONLY pool ALTER COLUMN id SET DEFAULT nextval('pool_id_seq'::regclass);
ALTER TABLE ONLY run ALTER COLUMN id SET DEFAULT nextval('run_id_seq'::regclass);
ALTER TABLE ONLY sitting ALTER COLUMN id SET DEFAULT nextval('sitting_id_seq'::regclass);
ALTER TABLE ONLY topic ALTER COLUMN id SET DEFAULT nextval('topic_id_seq'::regclass);
INSERT INTO alembic_version VALUES ('0009');
INSERT INTO answer VALUES (1, 2, 1, 1, 'judge', '2026-11-28 00:49:48.573109+00', 1, NULL, NULL, NULL, '', 1, NULL, NULL, NULL, '\x78da33040000320032', '\x', '\x', '\x', NULL, NULL, NULL, NULL, 0.002, '{"0": 0.2, "1": 0.7, "2": 0.1}', NULL, -1116299813);
INSERT INTO answer VALUES (2, 2, 1, 2, 'judge', '2026-11-28 00:49:48.573109+00', 0, NULL, NULL, NULL, '', 1, NULL, NULL, NULL, '\x78da33000000310031', '\x', '\x', '\x', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 373025447);
INSERT INTO answer VALUES (3, 2, 2, 3, 'judge', '2026-11-28 00:49:48.573109+00', NULL, 'no-grade', NULL, NULL, '', 1, NULL, NULL, NULL, '\x78daf35448cc55c8cb2f51282e2d4ad5030021ca04b6', '\x', '\x', '\x', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 264602240);
INSERT INTO answer VALUES (4, 2, 2, 4, 'judge', '2026-11-28 00:49:48.573109+00', 2, NULL, NULL, NULL, '', 1, NULL, NULL, NULL, '\x78da33020000330033', '\x', '\x', '\x', NULL, NULL, NULL, NULL, NULL, NULL, NULL, -1849661254);
INSERT INTO collection VALUES (1, 'one', '{"grades": [{"value": 0, "label": "not relevant", "key": "0"}, {"value": 1, "label": "partially relevant", "key": "1"}, {"value": 2, "label": "relevant", "key": "2"}], "relaxed": 1, "rigid": 2}', '2026-11-28 00:49:39.858645+00', 'pooler 0.2.0', -2097783585, '\x5b2275726c225d');
INSERT INTO document VALUES (3, 'd4', false, NULL, NULL, NULL);
INSERT INTO document VALUES (4, 'd5', false, NULL, NULL, NULL);
INSERT INTO document VALUES (1, 'd1', true, '\x44696767696e67', '\x44696720696e20617574756d6e2e204c656176652074686520636c6f64732e', 'c81fb8a4aa4d5e0e1fa89e7f692319198fbc9a4237e39375b2542e3972866e89');
INSERT INTO document VALUES (2, 'd2', true, '\x5761746572', '\xe69c9de381abe6b0b4e38292e38284e3828be38082', '8b0d28fe8d7571f3067dfece97ff3140ca60b4a163c07b3d8b0a23a246b0b863');
INSERT INTO document VALUES (5, 'd3', true, '\x', '\x412073706164652e', 'ee5baf074db565d87c942c483bba19ca34438a33a64116437e6f191257901e37');
INSERT INTO document_metadata VALUES (1, NULL, '\x7b2275726c223a202268747470733a2f2f6578616d706c652e6f72672f31227d', 187637959);
INSERT INTO judge VALUES (1, 'ann', 'human', false, '2026-11-28 00:49:45.472841+00', 'b428aa43f0fc8ae4', NULL, -527660582);
INSERT INTO judge VALUES (2, 'gpt', 'model', false, '2026-11-28 00:49:47.852504+00', 'b5ca1be3df0a58fb', NULL, 1629667839);
INSERT INTO judgement VALUES (1, 1, 1, 1, 1, 'judge', NULL, 'judged', 2, '\x', '\x', '0', 'docno', 0, '2026-11-28 00:49:46.411179+00', '2026-11-28 00:49:46.417914+00', 0, 0, 0, NULL, 'c81fb8a4aa4d5e0e1fa89e7f692319198fbc9a4237e39375b2542e3972866e89', 1, NULL, NULL, 1, -336738538);
INSERT INTO judgement VALUES (2, 1, 2, 1, 1, 'judge', NULL, 'judged', 0, '\x', '\x', '0', 'docno', 1, '2026-11-28 00:49:46.441257+00', '2026-11-28 00:49:46.443348+00', 0, 0, 0, NULL, '8b0d28fe8d7571f3067dfece97ff3140ca60b4a163c07b3d8b0a23a246b0b863', 1, NULL, NULL, 1, -1979916283);
INSERT INTO judgement VALUES (3, 1, 2, 1, 2, 'undo', 2, 'unjudged', NULL, '\x', '\x', '0', 'docno', 1, NULL, '2026-11-28 00:49:46.46545+00', NULL, NULL, 0, NULL, '8b0d28fe8d7571f3067dfece97ff3140ca60b4a163c07b3d8b0a23a246b0b863', 1, NULL, NULL, 1, 1943192894);
INSERT INTO judgement VALUES (4, 1, 2, 1, 3, 'skip', NULL, 'skipped', NULL, '\x', '\x', '0', 'docno', 1, '2026-11-28 00:49:46.485127+00', '2026-11-28 00:49:46.487889+00', 0, 0, 0, NULL, '8b0d28fe8d7571f3067dfece97ff3140ca60b4a163c07b3d8b0a23a246b0b863', 1, NULL, NULL, 1, 1504502983);
INSERT INTO judgement VALUES (5, 2, 2, 1, 1, 'judge', NULL, 'judged', 1, '\x', '\x', '0', 'docno', 0, '2026-11-28 00:49:47.258826+00', '2026-11-28 00:49:47.261398+00', 0, 0, 0, NULL, '8b0d28fe8d7571f3067dfece97ff3140ca60b4a163c07b3d8b0a23a246b0b863', 2, NULL, NULL, 1, 49418174);
INSERT INTO judgement VALUES (6, 2, 3, 1, 1, 'cannot', NULL, 'cannot', NULL, '\x77726f6e67206c616e6775616765', '\x', '0', 'docno', 1, '2026-11-28 00:49:47.270414+00', '2026-11-28 00:49:47.271991+00', 0, 0, 0, NULL, NULL, 2, NULL, NULL, 1, -1947929900);
INSERT INTO judgement VALUES (7, 1, 1, 2, 1, 'judge', NULL, 'judged', 1, '\x', '\x', '0', NULL, NULL, NULL, '2026-11-28 00:49:48.573109+00', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1396644206);
INSERT INTO judgement VALUES (8, 1, 2, 2, 1, 'judge', NULL, 'judged', 0, '\x', '\x', '0', NULL, NULL, NULL, '2026-11-28 00:49:48.573109+00', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, -1411398048);
INSERT INTO judgement VALUES (9, 2, 3, 2, 1, 'cannot', NULL, 'cannot', NULL, '\x6e6f2d6772616465', '\x', '0', NULL, NULL, NULL, '2026-11-28 00:49:48.573109+00', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, -308925576);
INSERT INTO judgement VALUES (10, 2, 4, 2, 1, 'judge', NULL, 'judged', 2, '\x', '\x', '0', NULL, NULL, NULL, '2026-11-28 00:49:48.573109+00', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 143214949);
INSERT INTO model_judge VALUES (2, '\x7b22656e64706f696e74223a7b22686f7374223a226e6f7420737461746564222c226b696e64223a226e6f7420737461746564227d2c226d6f64656c223a226770742d346f222c22706172616d6574657273223a7b7d2c22706172736572223a7b226d6170223a7b7d2c226e616d65223a226e6f7420737461746564222c2276657273696f6e223a226e6f7420737461746564227d2c2270726f6d7074223a2266303563653031316564336531363763313035303730353061643466316630646639613563663762383236343838316364376363643865643536386537623631222c227265766973696f6e223a226e6f7420737461746564222c2273686f776e223a7b22637574223a226e65766572222c22646f63756d656e74223a5b5d2c226d61785f63686172616374657273223a6e756c6c2c22746f706963223a5b5d7d7d', '322456c4049a426fd7b71a26a4c3889e4b88d7fed68a231ba3b7bfcce72f447c', '\x', '\x5175657374696f6e3a207b746f7069632e7469746c657d0a546578743a207b646f632e746578747d0a4772616465203020746f20323a0a', '2026-11-28 00:49:47.867178+00', -462906815);
INSERT INTO pool VALUES (1, 'pool', '0', '{"name": "pool", "order": "trec", "out_order": "docno", "pairs": 6, "parameters": {"depth": 2}, "round": "0", "runs": [{"contributes": true, "documents": 5, "file": "a.run", "group": "", "sha256": "d4857e59ee6f1d35c3ef75d97d2e9862472dca7a909e7d2ee23de0cf5647ba14", "tag": "a", "topics": 2}, {"contributes": true, "documents": 4, "file": "b.run", "group": "beds", "sha256": "6e11f968241c4b79675d37a05552ef7ee8cb51b4542d6bb79714cc85a297a584", "tag": "b", "topics": 2}], "seed": null, "sizes": {"1": 3, "2": 3}, "strategy": "depth", "tool": "pooler", "topics": 2, "version": "0.2.0"}', 'docno', false, '2026-11-28 00:49:43.703639+00', -1932692267);
INSERT INTO pool_entry VALUES (1, 1, 1, 0, 0.6666666666666667, NULL, NULL, true, 1822935412);
INSERT INTO pool_entry VALUES (1, 1, 2, 1, 1.4, NULL, NULL, true, -1884021069);
INSERT INTO pool_entry VALUES (1, 1, 5, 2, 0.33333333333333337, NULL, NULL, true, -779694716);
INSERT INTO pool_entry VALUES (1, 2, 2, 0, 0.6666666666666667, NULL, NULL, true, -1277547797);
INSERT INTO pool_entry VALUES (1, 2, 3, 1, 1.4, NULL, NULL, true, 1306977908);
INSERT INTO pool_entry VALUES (1, 2, 4, 2, 0.33333333333333337, NULL, NULL, true, 1651558056);
INSERT INTO pool_run VALUES (1, 1);
INSERT INTO pool_run VALUES (1, 2);
INSERT INTO ranking VALUES (1, 1, 3, '\x010000000200000003000000', '\x30090000000800000007000000', '\x720100000000000000', '\x720000000000000000', 1, 1538148160);
INSERT INTO ranking VALUES (1, 2, 2, '\x0200000003000000', '\x300900000008000000', '\x720100000000000000', '\x720000000000000000', 1, -203047473);
INSERT INTO ranking VALUES (2, 2, 2, '\x0300000004000000', '\x315f00000055000000', '\x720100000000000000', '\x720000000000000000', 1, -943929495);
INSERT INTO ranking VALUES (2, 1, 2, '\x0200000005000000', '\x300900000008000000', '\x720100000000000000', '\x720000000000000000', 1, -557942345);
INSERT INTO run VALUES (1, 'a', '', true, 0, 'd4857e59ee6f1d35c3ef75d97d2e9862472dca7a909e7d2ee23de0cf5647ba14', '\x612e72756e', '2026-11-28 00:49:42.64171+00', 105234931, NULL);
INSERT INTO run VALUES (2, 'b', 'beds', true, 0, '6e11f968241c4b79675d37a05552ef7ee8cb51b4542d6bb79714cc85a297a584', '\x622e72756e', '2026-11-28 00:49:42.683541+00', -1188252730, '\x232069725f6d657461646174612e73746172740a23207461673a20620a23206163746f723a0a232020207465616d3a20626564730a23206d6574686f643a0a232020206d6f64656c733a206e6f6e650a232069725f6d657461646174612e656e640a');
INSERT INTO sitting VALUES (1, 1, '2026-11-28 00:49:46.354021+00', '2026-11-28 00:49:46.508662+00', '2026-11-28 00:49:46.508662+00', 'vm', 13727, 'pooler 0.2.0', 1);
INSERT INTO sitting VALUES (2, 1, '2026-11-28 00:49:47.222418+00', '2026-11-28 00:49:47.280166+00', '2026-11-28 00:49:47.280166+00', 'vm', 13729, 'pooler 0.2.0', 2);
INSERT INTO topic VALUES (1, '1', true, '\x736f696c', '\x486f7720697320736f696c206d6164652072656164793f', '\x41206c697374206f6620746f6f6c73206973206e6f7420656e6f7567682e', 1, NULL, -1798970004);
INSERT INTO topic VALUES (2, '2', true, '\xe6b0b4e38284e3828a', '\xe38184e381a4e6b0b4e38292e38284e3828be3818be38082', '\x', 1, NULL, 748544195);
SELECT pg_catalog.setval('answer_id_seq', 4, true);
SELECT pg_catalog.setval('assignment_id_seq', 1, false);
SELECT pg_catalog.setval('assignment_plan_id_seq', 1, false);
SELECT pg_catalog.setval('carried_id_seq', 1, false);
SELECT pg_catalog.setval('document_id_seq', 5, true);
SELECT pg_catalog.setval('erasure_id_seq', 1, false);
SELECT pg_catalog.setval('guideline_id_seq', 1, false);
SELECT pg_catalog.setval('judge_id_seq', 2, true);
SELECT pg_catalog.setval('judge_term_id_seq', 1, false);
SELECT pg_catalog.setval('judgement_id_seq', 10, true);
SELECT pg_catalog.setval('passage_id_seq', 1, false);
SELECT pg_catalog.setval('pool_id_seq', 1, true);
SELECT pg_catalog.setval('run_id_seq', 2, true);
SELECT pg_catalog.setval('sitting_id_seq', 2, true);
SELECT pg_catalog.setval('topic_id_seq', 2, true);
ALTER TABLE ONLY alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY answer
    ADD CONSTRAINT answer_pkey PRIMARY KEY (id);
ALTER TABLE ONLY assignment
    ADD CONSTRAINT assignment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY assignment_plan
    ADD CONSTRAINT assignment_plan_pkey PRIMARY KEY (id);
ALTER TABLE ONLY assignment
    ADD CONSTRAINT assignment_topic_id_document_id_judge_id_key UNIQUE (topic_id, document_id, judge_id);
ALTER TABLE ONLY carried
    ADD CONSTRAINT carried_pkey PRIMARY KEY (id);
ALTER TABLE ONLY collection
    ADD CONSTRAINT collection_pkey PRIMARY KEY (id);
ALTER TABLE ONLY document
    ADD CONSTRAINT document_docno_key UNIQUE (docno);
ALTER TABLE ONLY document_metadata
    ADD CONSTRAINT document_metadata_pkey PRIMARY KEY (document_id);
ALTER TABLE ONLY document
    ADD CONSTRAINT document_pkey PRIMARY KEY (id);
ALTER TABLE ONLY erasure
    ADD CONSTRAINT erasure_pkey PRIMARY KEY (id);
ALTER TABLE ONLY erasure
    ADD CONSTRAINT erasure_uid_key UNIQUE (uid);
ALTER TABLE ONLY guideline
    ADD CONSTRAINT guideline_pkey PRIMARY KEY (id);
ALTER TABLE ONLY guideline
    ADD CONSTRAINT guideline_version_key UNIQUE (version);
ALTER TABLE ONLY judge_code
    ADD CONSTRAINT judge_code_pkey PRIMARY KEY (judge_id);
ALTER TABLE ONLY judge_code
    ADD CONSTRAINT judge_code_sha256_key UNIQUE (sha256);
ALTER TABLE ONLY judge
    ADD CONSTRAINT judge_name_key UNIQUE (name);
ALTER TABLE ONLY judge
    ADD CONSTRAINT judge_pkey PRIMARY KEY (id);
ALTER TABLE ONLY judge_term
    ADD CONSTRAINT judge_term_judge_id_topic_id_position_key UNIQUE (judge_id, topic_id, "position");
ALTER TABLE ONLY judge_term
    ADD CONSTRAINT judge_term_pkey PRIMARY KEY (id);
ALTER TABLE ONLY judge
    ADD CONSTRAINT judge_uid_key UNIQUE (uid);
ALTER TABLE ONLY judgement
    ADD CONSTRAINT judgement_pkey PRIMARY KEY (id);
ALTER TABLE ONLY judgement
    ADD CONSTRAINT judgement_topic_id_document_id_judge_id_revision_key UNIQUE (topic_id, document_id, judge_id, revision);
ALTER TABLE ONLY model_judge
    ADD CONSTRAINT model_judge_pkey PRIMARY KEY (judge_id);
ALTER TABLE ONLY passage
    ADD CONSTRAINT passage_pkey PRIMARY KEY (id);
ALTER TABLE ONLY pool_entry
    ADD CONSTRAINT pool_entry_pkey PRIMARY KEY (pool_id, topic_id, document_id);
ALTER TABLE ONLY pool
    ADD CONSTRAINT pool_name_key UNIQUE (name);
ALTER TABLE ONLY pool
    ADD CONSTRAINT pool_pkey PRIMARY KEY (id);
ALTER TABLE ONLY pool_run
    ADD CONSTRAINT pool_run_pkey PRIMARY KEY (pool_id, run_id);
ALTER TABLE ONLY pool_topic
    ADD CONSTRAINT pool_topic_pkey PRIMARY KEY (pool_id, topic_id);
ALTER TABLE ONLY ranking
    ADD CONSTRAINT ranking_pkey PRIMARY KEY (run_id, topic_id);
ALTER TABLE ONLY run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);
ALTER TABLE ONLY run
    ADD CONSTRAINT run_tag_key UNIQUE (tag);
ALTER TABLE ONLY sitting
    ADD CONSTRAINT sitting_pkey PRIMARY KEY (id);
ALTER TABLE ONLY topic
    ADD CONSTRAINT topic_number_key UNIQUE (number);
ALTER TABLE ONLY topic
    ADD CONSTRAINT topic_pkey PRIMARY KEY (id);
ALTER TABLE ONLY topic_version
    ADD CONSTRAINT topic_version_pkey PRIMARY KEY (topic_id, version);
CREATE INDEX answer_of_judge ON answer USING btree (judge_id, topic_id, document_id);
CREATE INDEX assignment_of_topic ON assignment USING btree (topic_id, "position") WHERE ((judge_id IS NULL) OR (lease_until IS NOT NULL));
CREATE INDEX carried_pair ON carried USING btree (topic_id, document_id);
CREATE INDEX carried_source ON carried USING btree (topic_id, source_id);
CREATE INDEX ix_assignment_judge_id ON assignment USING btree (judge_id);
CREATE INDEX ix_judgement_sitting_id ON judgement USING btree (sitting_id);
CREATE INDEX ix_passage_judgement_id ON passage USING btree (judgement_id);
CREATE INDEX ix_sitting_judge_id ON sitting USING btree (judge_id);
CREATE INDEX judgement_of_judge ON judgement USING btree (judge_id, topic_id, document_id, revision);
CREATE INDEX pool_entry_changed ON pool_entry USING btree (pool_id) WHERE (checksum IS NULL);
CREATE INDEX pool_entry_pair ON pool_entry USING btree (topic_id, document_id);
ALTER TABLE ONLY answer
    ADD CONSTRAINT answer_document_id_fkey FOREIGN KEY (document_id) REFERENCES document(id);
ALTER TABLE ONLY answer
    ADD CONSTRAINT answer_judge_id_fkey FOREIGN KEY (judge_id) REFERENCES judge(id);
ALTER TABLE ONLY answer
    ADD CONSTRAINT answer_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id);
ALTER TABLE ONLY assignment
    ADD CONSTRAINT assignment_document_id_fkey FOREIGN KEY (document_id) REFERENCES document(id);
ALTER TABLE ONLY assignment
    ADD CONSTRAINT assignment_judge_id_fkey FOREIGN KEY (judge_id) REFERENCES judge(id);
ALTER TABLE ONLY assignment
    ADD CONSTRAINT assignment_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES assignment_plan(id);
ALTER TABLE ONLY assignment
    ADD CONSTRAINT assignment_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id);
ALTER TABLE ONLY carried
    ADD CONSTRAINT carried_document_id_fkey FOREIGN KEY (document_id) REFERENCES document(id);
ALTER TABLE ONLY carried
    ADD CONSTRAINT carried_source_id_fkey FOREIGN KEY (source_id) REFERENCES document(id);
ALTER TABLE ONLY carried
    ADD CONSTRAINT carried_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id);
ALTER TABLE ONLY document_metadata
    ADD CONSTRAINT document_metadata_document_id_fkey FOREIGN KEY (document_id) REFERENCES document(id);
ALTER TABLE ONLY judge_code
    ADD CONSTRAINT judge_code_judge_id_fkey FOREIGN KEY (judge_id) REFERENCES judge(id);
ALTER TABLE ONLY judge_term
    ADD CONSTRAINT judge_term_judge_id_fkey FOREIGN KEY (judge_id) REFERENCES judge(id);
ALTER TABLE ONLY judge_term
    ADD CONSTRAINT judge_term_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id);
ALTER TABLE ONLY judgement
    ADD CONSTRAINT judgement_document_id_fkey FOREIGN KEY (document_id) REFERENCES document(id);
ALTER TABLE ONLY judgement
    ADD CONSTRAINT judgement_judge_id_fkey FOREIGN KEY (judge_id) REFERENCES judge(id);
ALTER TABLE ONLY judgement
    ADD CONSTRAINT judgement_sitting_id_fkey FOREIGN KEY (sitting_id) REFERENCES sitting(id);
ALTER TABLE ONLY judgement
    ADD CONSTRAINT judgement_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id);
ALTER TABLE ONLY judgement
    ADD CONSTRAINT judgement_undoes_fkey FOREIGN KEY (undoes) REFERENCES judgement(id);
ALTER TABLE ONLY model_judge
    ADD CONSTRAINT model_judge_judge_id_fkey FOREIGN KEY (judge_id) REFERENCES judge(id);
ALTER TABLE ONLY passage
    ADD CONSTRAINT passage_judgement_id_fkey FOREIGN KEY (judgement_id) REFERENCES judgement(id);
ALTER TABLE ONLY pool_entry
    ADD CONSTRAINT pool_entry_document_id_fkey FOREIGN KEY (document_id) REFERENCES document(id);
ALTER TABLE ONLY pool_entry
    ADD CONSTRAINT pool_entry_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pool(id) ON DELETE CASCADE;
ALTER TABLE ONLY pool_entry
    ADD CONSTRAINT pool_entry_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id);
ALTER TABLE ONLY pool_run
    ADD CONSTRAINT pool_run_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pool(id) ON DELETE CASCADE;
ALTER TABLE ONLY pool_run
    ADD CONSTRAINT pool_run_run_id_fkey FOREIGN KEY (run_id) REFERENCES run(id) ON DELETE CASCADE;
ALTER TABLE ONLY pool_topic
    ADD CONSTRAINT pool_topic_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pool(id) ON DELETE CASCADE;
ALTER TABLE ONLY pool_topic
    ADD CONSTRAINT pool_topic_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id);
ALTER TABLE ONLY ranking
    ADD CONSTRAINT ranking_run_id_fkey FOREIGN KEY (run_id) REFERENCES run(id) ON DELETE CASCADE;
ALTER TABLE ONLY ranking
    ADD CONSTRAINT ranking_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id);
ALTER TABLE ONLY sitting
    ADD CONSTRAINT sitting_judge_id_fkey FOREIGN KEY (judge_id) REFERENCES judge(id);
ALTER TABLE ONLY sitting
    ADD CONSTRAINT sitting_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id);
ALTER TABLE ONLY topic_version
    ADD CONSTRAINT topic_version_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id);
