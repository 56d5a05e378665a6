/* Points without WebGL2: written pixel by pixel into one picture. */

export function rasterPainter(canvas) {
  const context = canvas.getContext('2d');
  let before = new Float32Array(0),
    after = before,
    labels = new Uint8Array(0);
  let colors = new Uint32Array(256),
    faint = colors,
    picture = null;

  function tables(table) {
    colors = new Uint32Array(table.slice().buffer);
    faint = colors.map((color) => ((color & 0x00ffffff) | 0x1e000000) >>> 0);
  }

  return {
    name: 'Canvas2D',
    setPlaces(from, to) {
      [before, after] = [from, to];
    },
    setLabels(values) {
      labels = values;
    },
    setColors: tables,
    draw({ x, y, scale, moved, size, n, only }) {
      const { width, height } = canvas;
      if (!picture || picture.width !== width || picture.height !== height) {
        picture = context.createImageData(width, height);
      }
      const pixels = new Uint32Array(picture.data.buffer);
      pixels.fill(0);
      const side = Math.max(1, Math.round(size)),
        half = side >> 1;
      const isRound = side > 3,
        sqRadius = (side / 2) ** 2,
        middle = (side - 1) / 2;
      for (const pass of only < 0 ? [0] : [1, 2]) {
        const table = pass === 1 ? faint : colors;
        for (let i = 0; i < n; i++) {
          if (pass === (labels[i] === only ? 1 : 2)) continue;
          const px = before[2 * i] + (after[2 * i] - before[2 * i]) * moved;
          const py = before[2 * i + 1] + (after[2 * i + 1] - before[2 * i + 1]) * moved;
          const left = Math.round((px - x) * scale + width / 2) - half;
          const top = Math.round((y - py) * scale + height / 2) - half;
          if (left < 0 || top < 0 || left + side > width || top + side > height) continue;
          const color = table[labels[i]];
          for (let r = 0; r < side; r++) {
            const line = (top + r) * width + left;
            for (let c = 0; c < side; c++) {
              if (!isRound || (r - middle) ** 2 + (c - middle) ** 2 <= sqRadius) pixels[line + c] = color;
            }
          }
        }
      }
      context.putImageData(picture, 0, 0);
    },
    finish() {},
    remove() {},
  };
}
