/** Who may sign in, and as whom. Local identity now; OIDC modes are further files beside it. */
export interface Identity {
  readonly username: string;
  readonly roles: readonly string[];
}

export interface IdentityProvider {
  readonly kind: string;
  /** Throws UNAUTHENTICATED with one answer for every cause. */
  signIn(username: string, password: string, signal: AbortSignal): Promise<Identity>;
}
