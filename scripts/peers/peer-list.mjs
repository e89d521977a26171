// The peers: which program runs against which variant of the service.

/** Settings of each variant by its name. Small bounds, so that a few clients reach them. */
export function serviceVariants({ tables, tpch, certificate, key }) {
  const common = { 'catalog.path': `${tables}/warehouse` };
  return {
    plain: { ...common, 'query.max_concurrent': 3, 'query.spool_bytes': 64 * 2 ** 20 },
    tls: { ...common, 'server.tls_cert': certificate, 'server.tls_key': key },
    expiring: { ...common, 'session.handle_ttl_secs': 10, 'session.idle_timeout_secs': 12 },
    tpch: { 'catalog.path': `${tpch}/warehouse` },
  };
}

/** `needs`: another peer, which runs before it whenever it does. */
export const peers = [
  { name: 'equality', variant: 'plain', python: 'equality_checks.py' },
  { name: 'pyarrow', variant: 'plain', python: 'clients/pyarrow_client.py' },
  { name: 'pyarrow streams', variant: 'plain', python: 'clients/pyarrow_streams.py' },
  { name: 'adbc', variant: 'plain', python: 'clients/adbc_client.py' },
  { name: 'jdbc', variant: 'plain', java: 'JdbcClient' },
  { name: 'dbeaver jdbc', variant: 'plain', java: 'DBeaverReplay' },
  { name: 'tableau jdbc', variant: 'plain', java: 'TableauReplay' },
  { name: 'tool rpcs', variant: 'plain', python: 'replays/rpc_sequences.py' },
  { name: 'power bi', variant: 'plain', python: 'replays/power_bi.py' },
  { name: 'tables', variant: 'plain', python: 'tables/read_tables.py' },
  { name: 'replaced', variant: 'plain', python: 'tables/replaced_tables.py' },
  { name: 'delta', variant: 'plain', python: 'tables/read_delta.py' },
  { name: 'written', variant: 'plain', python: 'written/write_matrix.py' },
  { name: 'written pyiceberg', variant: 'plain', python: 'written/read_by_pyiceberg.py', needs: 'written' },
  { name: 'written duckdb', variant: 'plain', python: 'written/read_by_duckdb.py', needs: 'written' },
  { name: 'written java', variant: 'plain', iceberg: 'written/ReadByIceberg.java', needs: 'written' },
  { name: 'page clients', variant: 'plain', page: 'docs/clients.md' },
  { name: 'page readme', variant: 'plain', page: 'README.md' },
  { name: 'tls pyarrow', variant: 'tls', python: 'clients/pyarrow_client.py' },
  { name: 'tls pyarrow trust', variant: 'tls', python: 'clients/pyarrow_tls.py' },
  { name: 'tls adbc', variant: 'tls', python: 'clients/adbc_client.py' },
  { name: 'tls jdbc', variant: 'tls', java: 'JdbcClient' },
  {
    name: 'tls page clients',
    variant: 'tls',
    page: 'docs/clients.md',
  },
  { name: 'expiry', variant: 'expiring', python: 'clients/pyarrow_expiry.py' },
  { name: 'tpch', variant: 'tpch', python: 'tables/read_tpch.py' },
];
