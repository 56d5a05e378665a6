/* How numbers and kinds are written. */

export const KIND_NAMES = {
  mixed: 'Mixed',
  group: 'Which group?',
  pair: 'Same or different?',
  odd_one_out: 'Odd one out',
  grid: 'Pick all that belong',
  review: 'Look again',
};

export function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A share in percent; 99.5 % is not 100 %, nor is a small chance none. */
export function percent(share) {
  if (share === null || share === undefined) return '–';
  const rounded = Math.round(100 * share);
  if (rounded === 100 && share < 1) return 'over 99 %';
  if (rounded === 0 && share > 0) return 'under 1 %';
  return `${rounded} %`;
}

export function count(n) {
  return n === null || n === undefined ? '–' : n.toLocaleString('en-US');
}

export function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** "3 minutes ago" of a time in UTC, ISO 8601 without a zone. */
export function ago(at, now = Date.now()) {
  const then = Date.parse(/Z|[+-]\d\d:\d\d$/.test(at) ? at : `${at}Z`);
  const seconds = Math.max(0, (now - then) / 1000);
  if (Number.isNaN(seconds)) return at;
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${plural(Math.floor(seconds / 60), 'minute')} ago`;
  if (seconds < 86400) return `${plural(Math.floor(seconds / 3600), 'hour')} ago`;
  return new Date(then).toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'short' });
}

/** The name of a cluster, or its number. */
export function clusterName(cluster) {
  return capital(cluster.name || `cluster ${cluster.cluster}`);
}
