// What strangers' objects do not allow once they are frozen, or have getters.

/** Returns an object with these members and all others of `object`, in which they cannot be set. */
export const withMembers = <O extends object, M extends object>(object: O, members: M): O & M =>
  Object.create(object, Object.getOwnPropertyDescriptors(members)) as O & M;

/** Returns an object to make a proxy of: a proxy of a frozen one may give no other members than it has. */
export const proxyable = <O extends object>(object: O): O =>
  Object.isFrozen(object) ? withMembers(object, {}) : object;
