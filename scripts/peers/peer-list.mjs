// The peers: which program runs against which variant of the service.
import { signInVariants } from './sign-in-variants.mjs';

/**
 * Settings of each variant by its name, and who signs in where that is not the local user. Small bounds, so that a few
 * clients reach them. Without the servers that `signIn` tells of there are no variants that need them.
 */
export function serviceVariants({ tables, tpch, policies, certificate, key }, signIn) {
  const common = { 'catalog.path': `${tables}/warehouse` };
  const bounded = { ...common, 'query.max_concurrent': 3, 'query.spool_bytes': 64 * 2 ** 20 };
  return {
    plain: { settings: bounded },
    lake: { settings: bounded },
    tls: { settings: { ...common, 'server.tls_cert': certificate, 'server.tls_key': key } },
    expiring: { settings: { ...common, 'session.handle_ttl_secs': 10, 'session.idle_timeout_secs': 12 } },
    ...(signIn === undefined ? {} : signInVariants(common, signIn)),
    tpch: { settings: { 'catalog.path': `${tpch}/warehouse`, ...policies.settings } },
  };
}

/**
 * The variants that run beside the others: client and service wait for each other, so that one pair leaves half of two cores
 * idle. They share a catalog with the others, and write to schemas of their own.
 */
export const variantsBeside = ['lake', 'tpch'];

/** Whether a peer is for a service whose users sign in at the identity provider. */
export function needsSignIn({ variant }) {
  return ['keycloak', 'limits', 'client credentials'].includes(variant);
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
  { name: 'tables', variant: 'lake', python: 'tables/read_tables.py' },
  { name: 'metadata', variant: 'lake', python: 'tables/read_metadata.py' },
  { name: 'replaced', variant: 'lake', python: 'tables/replaced_tables.py' },
  { name: 'delta', variant: 'lake', python: 'tables/read_delta.py' },
  { name: 'written', variant: 'lake', python: 'written/write_matrix.py' },
  { name: 'written pyiceberg', variant: 'lake', python: 'written/read_by_pyiceberg.py', needs: 'written' },
  { name: 'written duckdb', variant: 'lake', python: 'written/read_by_duckdb.py', needs: 'written' },
  { name: 'written java', variant: 'lake', iceberg: 'written/ReadByIceberg.java', needs: 'written' },
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
  { name: 'keycloak pyarrow', variant: 'keycloak', python: 'sign-in/pyarrow_sign_in.py' },
  { name: 'keycloak adbc', variant: 'keycloak', python: 'sign-in/adbc_sign_in.py' },
  { name: 'keycloak jdbc', variant: 'keycloak', java: 'JdbcSignIn' },
  { name: 'keycloak admin', variant: 'keycloak', python: 'sign-in/admin_endpoint.py' },
  { name: 'keycloak audit', variant: 'keycloak', python: 'sign-in/audit_log.py' },
  { name: 'sign-in limits', variant: 'limits', python: 'sign-in/limits.py' },
  { name: 'client credentials', variant: 'client credentials', python: 'sign-in/client_credentials.py' },
  { name: 'client credentials audit', variant: 'client credentials', python: 'sign-in/audit_log.py' },
  { name: 'tpch', variant: 'tpch', python: 'tables/read_tpch.py' },
  { name: 'tpch policies', variant: 'tpch', python: 'tables/read_tpch_policies.py' },
];
