/** The rules that an operator writes (`policy.rules_file`). Looked at again and again: no watcher tells of every way to replace a file. */
import { QueryError } from '@svc/base';
import { readRules, versionOf } from './file-place.js';
import { type RuleDocumentOptions, type Rules, readRuleDocument } from './rule-document.js';
import { parseRuleToml } from './rule-text.js';

export interface RulesFile {
  current(): Rules;
  /**
   * Takes a file that changed, once it is the same at two looks: one that is still being written may look complete. True
   * where other rules hold now. Throws CONFIGURATION_ERROR and the like, and keeps what there was; the same file is not tried again.
   */
  refresh(): Promise<boolean>;
}

/** Throws CONFIGURATION_ERROR. */
export async function openRulesFile(
  path: string,
  options: Omit<RuleDocumentOptions, 'source' | 'origin'>,
): Promise<RulesFile> {
  let takenVersion = await versionOf(path);
  let seenVersion = takenVersion;
  let rules = await read();

  return {
    current: () => rules,
    async refresh() {
      const version = await versionOf(path);
      const isSettled = version === seenVersion;
      seenVersion = version;
      if (version === takenVersion || !isSettled) return false;
      // What was wrong with a file has been said once; another file is looked at again.
      takenVersion = version;
      rules = await read();
      return true;
    },
  };

  async function read(): Promise<Rules> {
    if (takenVersion === undefined)
      throw new QueryError('CONFIGURATION_ERROR', `\`policy.rules_file\` ${path} does not exist.`);
    const document = parseRuleToml(await readRules(path), path);
    return readRuleDocument(document, { ...options, source: path, origin: 'rules-file' });
  }
}
