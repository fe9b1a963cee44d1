CREATE TABLE alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE assignment (
    id integer NOT NULL,
    topic_id integer NOT NULL,
    document_id integer NOT NULL,
    judge_id integer NOT NULL,
    "position" integer NOT NULL,
    purpose character varying(16) NOT NULL,
    lease_until timestamp with time zone
);
CREATE SEQUENCE assignment_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE assignment_id_seq OWNED BY assignment.id;
CREATE TABLE collection (
    id integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    scale text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL
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
CREATE TABLE guideline (
    id integer NOT NULL,
    version integer NOT NULL,
    text bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
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
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE judge_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE judge_id_seq OWNED BY judge.id;
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
CREATE TABLE passage (
    id integer NOT NULL,
    judgement_id integer NOT NULL,
    start integer NOT NULL,
    length integer NOT NULL,
    text bytea NOT NULL
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
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE pool_entry (
    pool_id integer NOT NULL,
    topic_id integer NOT NULL,
    document_id integer NOT NULL,
    "position" integer NOT NULL,
    priority double precision,
    stratum integer,
    inclusion_probability double precision,
    sampled boolean DEFAULT true NOT NULL
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
    budget integer NOT NULL
);
CREATE TABLE ranking (
    run_id integer NOT NULL,
    topic_id integer NOT NULL,
    length integer NOT NULL,
    document_ids bytea NOT NULL,
    scores bytea NOT NULL,
    ranks bytea,
    positions bytea NOT NULL,
    codec integer NOT NULL
);
CREATE TABLE run (
    id integer NOT NULL,
    tag text NOT NULL COLLATE pg_catalog."C",
    "group" text NOT NULL COLLATE pg_catalog."C",
    contributes boolean NOT NULL,
    priority integer NOT NULL,
    sha256 text NOT NULL,
    file bytea NOT NULL,
    imported_at timestamp with time zone NOT NULL
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
    program text NOT NULL
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
    narrative bytea NOT NULL
);
CREATE SEQUENCE topic_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE topic_id_seq OWNED BY topic.id;
ALTER TABLE ONLY assignment ALTER COLUMN id SET DEFAULT nextval('assignment_id_seq'::regclass);
ALTER TABLE ONLY document ALTER COLUMN id SET DEFAULT nextval('document_id_seq'::regclass);
ALTER TABLE ONLY guideline ALTER COLUMN id SET DEFAULT nextval('guideline_id_seq'::regclass);
ALTER TABLE ONLY judge ALTER COLUMN id SET DEFAULT nextval('judge_id_seq'::regclass);
ALTER TABLE ONLY judgement ALTER COLUMN id SET DEFAULT nextval('judgement_id_seq'::regclass);
ALTER TABLE ONLY passage ALTER COLUMN id SET DEFAULT nextval('passage_id_seq'::regclass);
ALTER TABLE ONLY pool ALTER COLUMN id SET DEFAULT nextval('pool_id_seq'::regclass);
ALTER TABLE ONLY run ALTER COLUMN id SET DEFAULT nextval('run_id_seq'::regclass);
ALTER TABLE ONLY sitting ALTER COLUMN id SET DEFAULT nextval('sitting_id_seq'::regclass);
ALTER TABLE ONLY topic ALTER COLUMN id SET DEFAULT nextval('topic_id_seq'::regclass);
INSERT INTO alembic_version VALUES ('0002');
INSERT INTO collection VALUES (1, 'old', '{"grades": [{"value": 0, "label": "not relevant", "key": "0"}, {"value": 1, "label": "partially relevant", "key": "1"}, {"value": 2, "label": "relevant", "key": "2"}], "relaxed": 1, "rigid": 2}', '2026-11-22 18:27:22.901591+00', 'pooler 0.1.0');
INSERT INTO document VALUES (4, 'd4', false, NULL, NULL, NULL);
INSERT INTO document VALUES (5, 'd5', false, NULL, NULL, NULL);
INSERT INTO document VALUES (1, 'd1', true, '\x44696767696e67', '\x44696720696e20617574756d6e2e204c656176652074686520636c6f64732e', 'c81fb8a4aa4d5e0e1fa89e7f692319198fbc9a4237e39375b2542e3972866e89');
INSERT INTO document VALUES (2, 'd2', true, '\x5761746572', '\xe69c9de381abe6b0b4e38292e38284e3828be38082', '8b0d28fe8d7571f3067dfece97ff3140ca60b4a163c07b3d8b0a23a246b0b863');
INSERT INTO document VALUES (3, 'd3', true, '\x', '\x412073706164652e', 'ee5baf074db565d87c942c483bba19ca34438a33a64116437e6f191257901e37');
INSERT INTO judge VALUES (1, 'ann', 'human', false, '2026-11-22 18:27:59.337299+00');
INSERT INTO judge VALUES (2, 'gpt', 'model', false, '2026-11-22 18:28:27.013065+00');
INSERT INTO judgement VALUES (1, 1, 1, 1, 1, 'judge', NULL, 'judged', 2, '\x', '\x', '0', 'docno', 0, '2026-11-22 18:28:09.542368+00', '2026-11-22 18:28:09.757293+00', 0, 0, 0, NULL, 'c81fb8a4aa4d5e0e1fa89e7f692319198fbc9a4237e39375b2542e3972866e89', 1);
INSERT INTO judgement VALUES (2, 1, 2, 1, 1, 'judge', NULL, 'judged', 0, '\x', '\x', '0', 'docno', 1, '2026-11-22 18:28:09.829785+00', '2026-11-22 18:28:09.842837+00', 0, 0, 0, NULL, '8b0d28fe8d7571f3067dfece97ff3140ca60b4a163c07b3d8b0a23a246b0b863', 1);
INSERT INTO judgement VALUES (3, 1, 2, 1, 2, 'undo', 2, 'unjudged', NULL, '\x', '\x', '0', 'docno', 1, NULL, '2026-11-22 18:28:10.005102+00', NULL, NULL, 0, NULL, '8b0d28fe8d7571f3067dfece97ff3140ca60b4a163c07b3d8b0a23a246b0b863', 1);
INSERT INTO judgement VALUES (4, 1, 2, 1, 3, 'skip', NULL, 'skipped', NULL, '\x', '\x', '0', 'docno', 1, '2026-11-22 18:28:10.109927+00', '2026-11-22 18:28:10.147444+00', 0, 0, 0, NULL, '8b0d28fe8d7571f3067dfece97ff3140ca60b4a163c07b3d8b0a23a246b0b863', 1);
INSERT INTO judgement VALUES (5, 2, 2, 1, 1, 'judge', NULL, 'judged', 1, '\x', '\x', '0', 'docno', 0, '2026-11-22 18:28:18.21433+00', '2026-11-22 18:28:18.380919+00', 0, 0, 0, NULL, '8b0d28fe8d7571f3067dfece97ff3140ca60b4a163c07b3d8b0a23a246b0b863', 2);
INSERT INTO judgement VALUES (6, 1, 1, 2, 1, 'judge', NULL, 'judged', 1, '\x', '\x', '0', NULL, NULL, NULL, '2026-11-22 18:28:27.067051+00', NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO judgement VALUES (7, 1, 2, 2, 1, 'judge', NULL, 'judged', 0, '\x', '\x', '0', NULL, NULL, NULL, '2026-11-22 18:28:27.067051+00', NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO judgement VALUES (8, 2, 5, 2, 1, 'judge', NULL, 'judged', 2, '\x', '\x', '0', NULL, NULL, NULL, '2026-11-22 18:28:27.067051+00', NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO pool VALUES (1, 'pool', '0', '{"name": "pool", "order": "trec", "out_order": "docno", "pairs": 6, "parameters": {"depth": 2}, "round": "0", "runs": [{"contributes": true, "documents": 5, "file": "a.run", "group": "", "sha256": "d9dc877546c6fe8fccacee7cfb1c9a9fb1f9e00a51ad0f3d629b1257550bcf06", "tag": "a", "topics": 2}, {"contributes": true, "documents": 4, "file": "b.run", "group": "", "sha256": "ec64169955e95b0a38e0afede1bbc2cddb2ea8c2e169be72b18f7003010482e8", "tag": "b", "topics": 2}], "seed": null, "sizes": {"1": 3, "2": 3}, "strategy": "depth", "tool": "pooler", "topics": 2, "version": "0.1.0"}', 'docno', false, '2026-11-22 18:27:45.008979+00');
INSERT INTO pool_entry VALUES (1, 1, 1, 0, 1.4, NULL, NULL, true);
INSERT INTO pool_entry VALUES (1, 1, 2, 1, 0.33333333333333337, NULL, NULL, true);
INSERT INTO pool_entry VALUES (1, 1, 3, 2, 0.6666666666666667, NULL, NULL, true);
INSERT INTO pool_entry VALUES (1, 2, 2, 0, 1.4, NULL, NULL, true);
INSERT INTO pool_entry VALUES (1, 2, 4, 1, 0.33333333333333337, NULL, NULL, true);
INSERT INTO pool_entry VALUES (1, 2, 5, 2, 0.6666666666666667, NULL, NULL, true);
INSERT INTO pool_run VALUES (1, 1);
INSERT INTO pool_run VALUES (1, 2);
INSERT INTO ranking VALUES (1, 1, 3, '\x010000000200000003000000', '\x3123000000190000000f000000', '\x720100000000000000', '\x720000000000000000', 1);
INSERT INTO ranking VALUES (1, 2, 2, '\x0200000004000000', '\x300900000008000000', '\x720100000000000000', '\x720000000000000000', 1);
INSERT INTO ranking VALUES (2, 1, 2, '\x0300000001000000', '\x300700000006000000', '\x720100000000000000', '\x720000000000000000', 1);
INSERT INTO ranking VALUES (2, 2, 2, '\x0500000002000000', '\x300500000005000000', '\x720100000000000000', '\x720000000000000000', 1);
INSERT INTO run VALUES (1, 'a', '', true, 0, 'd9dc877546c6fe8fccacee7cfb1c9a9fb1f9e00a51ad0f3d629b1257550bcf06', '\x612e72756e', '2026-11-22 18:27:37.888879+00');
INSERT INTO run VALUES (2, 'b', '', true, 0, 'ec64169955e95b0a38e0afede1bbc2cddb2ea8c2e169be72b18f7003010482e8', '\x622e72756e', '2026-11-22 18:27:38.03295+00');
INSERT INTO sitting VALUES (1, 1, '2026-11-22 18:28:09.542708+00', '2026-11-22 18:28:10.229514+00', '2026-11-22 18:28:10.229514+00', 'desk-1', 9001, 'pooler 0.1.0');
INSERT INTO sitting VALUES (2, 1, '2026-11-22 18:28:18.214614+00', '2026-11-22 18:28:18.471566+00', '2026-11-22 18:28:18.471566+00', 'desk-1', 9051, 'pooler 0.1.0');
INSERT INTO topic VALUES (1, '1', true, '\x736f696c', '\x486f7720697320736f696c206d6164652072656164793f', '\x41206c697374206f6620746f6f6c73206973206e6f7420656e6f7567682e');
INSERT INTO topic VALUES (2, '2', true, '\xe6b0b4e38284e3828a', '\xe38184e381a4e6b0b4e38292e38284e3828be3818be38082', '\x');
SELECT pg_catalog.setval('assignment_id_seq', 1, false);
SELECT pg_catalog.setval('document_id_seq', 5, true);
SELECT pg_catalog.setval('guideline_id_seq', 1, false);
SELECT pg_catalog.setval('judge_id_seq', 2, true);
SELECT pg_catalog.setval('judgement_id_seq', 8, true);
SELECT pg_catalog.setval('passage_id_seq', 1, false);
SELECT pg_catalog.setval('pool_id_seq', 1, true);
SELECT pg_catalog.setval('run_id_seq', 2, true);
SELECT pg_catalog.setval('sitting_id_seq', 2, true);
SELECT pg_catalog.setval('topic_id_seq', 2, true);
ALTER TABLE ONLY alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY assignment
    ADD CONSTRAINT assignment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY assignment
    ADD CONSTRAINT assignment_topic_id_document_id_judge_id_key UNIQUE (topic_id, document_id, judge_id);
ALTER TABLE ONLY collection
    ADD CONSTRAINT collection_pkey PRIMARY KEY (id);
ALTER TABLE ONLY document
    ADD CONSTRAINT document_docno_key UNIQUE (docno);
ALTER TABLE ONLY document
    ADD CONSTRAINT document_pkey PRIMARY KEY (id);
ALTER TABLE ONLY guideline
    ADD CONSTRAINT guideline_pkey PRIMARY KEY (id);
ALTER TABLE ONLY guideline
    ADD CONSTRAINT guideline_version_key UNIQUE (version);
ALTER TABLE ONLY judge
    ADD CONSTRAINT judge_name_key UNIQUE (name);
ALTER TABLE ONLY judge
    ADD CONSTRAINT judge_pkey PRIMARY KEY (id);
ALTER TABLE ONLY judgement
    ADD CONSTRAINT judgement_pkey PRIMARY KEY (id);
ALTER TABLE ONLY judgement
    ADD CONSTRAINT judgement_topic_id_document_id_judge_id_revision_key UNIQUE (topic_id, document_id, judge_id, revision);
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
CREATE INDEX ix_assignment_judge_id ON assignment USING btree (judge_id);
CREATE INDEX ix_judgement_sitting_id ON judgement USING btree (sitting_id);
CREATE INDEX ix_passage_judgement_id ON passage USING btree (judgement_id);
CREATE INDEX ix_sitting_judge_id ON sitting USING btree (judge_id);
CREATE INDEX judgement_of_judge ON judgement USING btree (judge_id, topic_id, document_id, revision);
CREATE INDEX pool_entry_pair ON pool_entry USING btree (topic_id, document_id);
ALTER TABLE ONLY assignment
    ADD CONSTRAINT assignment_document_id_fkey FOREIGN KEY (document_id) REFERENCES document(id);
ALTER TABLE ONLY assignment
    ADD CONSTRAINT assignment_judge_id_fkey FOREIGN KEY (judge_id) REFERENCES judge(id);
ALTER TABLE ONLY assignment
    ADD CONSTRAINT assignment_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topic(id);
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
