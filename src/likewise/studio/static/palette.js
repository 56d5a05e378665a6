/* Colors of clusters: the same index has the same color on every screen and after every fit. The
   first ten are those of the report; later ones go round the hues in three lightnesses. Forty colors
   cannot be told apart by eye alone, so a name or number always stands beside them. */

const LIGHT = [
  '1f6fb4',
  'c4570a',
  '23832a',
  'c3262b',
  '7b4fb3',
  '80503f',
  'bd3d96',
  '5d6770',
  '7c7a00',
  '0b8296',
];
const DARK = [
  '62aef5',
  'ff9a4d',
  '5fcf66',
  'ff7f7f',
  'b795f5',
  'cf9c88',
  'f285cf',
  'aab4bd',
  'd3cf4a',
  '47cfe3',
];
const GOLDEN_ANGLE = 137.508;
export const NO_CLUSTER = 255;

/** [r, g, b] of 0 to 255. */
export function colorOf(index, isDark) {
  if (index === NO_CLUSTER) return isDark ? [120, 128, 140] : [150, 157, 168];
  const named = (isDark ? DARK : LIGHT)[index];
  if (named) return [0, 2, 4].map((at) => parseInt(named.slice(at, at + 2), 16));
  const lightness = (isDark ? [0.82, 0.7, 0.6] : [0.48, 0.6, 0.38])[index % 3];
  return fromOklch(lightness, 0.13, index * GOLDEN_ANGLE);
}

export function cssColor(index, isDark) {
  return `rgb(${colorOf(index, isDark).join(' ')})`;
}

/** 256 colors, RGBA. */
export function colorTable(isDark) {
  const table = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; i++) table.set([...colorOf(i, isDark), 255], 4 * i);
  return table;
}

/** sRGB of a color in OKLCH: lightness, chroma, hue in degrees. */
function fromOklch(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((value) => {
    const v = Math.min(1, Math.max(0, value));
    return Math.round(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055));
  });
}

export function prefersDark() {
  return matchMedia('(prefers-color-scheme: dark)').matches;
}
