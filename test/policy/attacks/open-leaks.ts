/**
 * Attacks that succeed, each with what it tells. The proof holds them to it, so that whoever closes one takes it off this list.
 */
export const openLeaks: Readonly<Record<string, string>> = {
  'A snapshot that does not exist':
    'The error lists all snapshots: commits of hidden rows only are among them.',
  'A time before the table: when was it made?': 'The error lists all snapshots, too.',
};
