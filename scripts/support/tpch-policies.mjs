// Policies on TPC-H's tables, and programs that each have the role of one kind of them: bench/tpch/policies.json.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const schema = 'tpch';
/** Of the local user, who is an admin: nothing is hidden from him. */
const excepted = 'admin';

/** Writes a rules file and a file of static tokens; answers the settings that name them, and the token of each kind of policies. */
export function writeTpchPolicies(root, folder) {
  const kinds = JSON.parse(readFileSync(path.join(root, 'bench', 'tpch', 'policies.json'), 'utf8'));
  const tokens = Object.fromEntries(
    Object.keys(kinds).map((kind) => [kind, randomBytes(32).toString('hex')]),
  );
  mkdirSync(folder, { recursive: true });
  const write = (name, sections) => {
    const file = path.join(folder, name);
    writeFileSync(file, `${sections.join('\n\n')}\n`);
    return file;
  };
  const rules = Object.values(kinds).flatMap(({ role, tables }) =>
    Object.entries(tables).flatMap(([table, rule]) => rulesOf(role, table, rule)),
  );
  const programs = Object.entries(kinds).map(([kind, { role }]) => {
    const sha256 = createHash('sha256').update(tokens[kind]).digest('hex');
    return section('token', { username: kind, roles: [role], sha256 });
  });
  const settings = {
    'policy.rules_file': write('rules.toml', ['version = 1', ...rules]),
    'auth.static_tokens_path': write('tokens.toml', programs),
  };
  return { settings, tokens };
}

function rulesOf(role, table, { filter, masks }) {
  const policy = (name, rule) =>
    section('policies', {
      name: `${role}_${name}`,
      ...{ schema, table, ...rule },
      to: [role],
      except: [excepted],
    });
  return [
    policy(table, { row_filter: filter }),
    ...Object.entries(masks).map(([column, { expression }]) => policy(column, { column, mask: expression })),
  ];
}

/** JSON spells strings and lists of them as TOML does. */
function section(name, fields) {
  const lines = Object.entries(fields).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return [`[[${name}]]`, ...lines].join('\n');
}
