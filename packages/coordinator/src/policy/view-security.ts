/** Says in a view's properties whose policies hold for what it reads: `definer`, or else its reader's. */
export const viewSecurityProperty = 'svc.security';
