// Pan and zoom: world to screen, with the pointer, the wheel, two fingers, or keys.

export class Camera {
  scale = 1; x = 0; y = 0; // screen = world * scale + (x, y)
  onMove: () => void = () => {};

  fit(w: number, h: number, width: number, height: number): void {
    const margin = width < 600 ? { left: 18, right: 18, top: 124, bottom: 40 } : { left: 44, right: 34, top: 88, bottom: 56 };
    this.scale = Math.min((width - margin.left - margin.right) / w, (height - margin.top - margin.bottom) / h);
    this.x = margin.left + (width - margin.left - margin.right - w * this.scale) / 2;
    this.y = margin.top + (height - margin.top - margin.bottom - h * this.scale) / 2;
    this.onMove();
  }
  zoom(factor: number, px: number, py: number): void {
    const next = Math.min(400, Math.max(0.02, this.scale * factor)), f = next / this.scale;
    this.x = px - (px - this.x) * f;
    this.y = py - (py - this.y) * f;
    this.scale = next;
    this.onMove();
  }
  pan(dx: number, dy: number): void { this.x += dx; this.y += dy; this.onMove(); }
  centre(wx: number, wy: number, width: number, height: number): void {
    this.x = width / 2 - wx * this.scale;
    this.y = height / 2 - wy * this.scale;
    this.onMove();
  }
  toWorld(px: number, py: number): [number, number] { return [(px - this.x) / this.scale, (py - this.y) / this.scale]; }

  /** Calls `onTap` for a press that did not move. */
  attach(canvas: HTMLCanvasElement, onTap: (x: number, y: number, e: PointerEvent) => void): void {
    const held = new Map<number, { x: number; y: number }>();
    let moved = 0;
    const at = (e: { clientX: number; clientY: number }) => {
      const r = canvas.getBoundingClientRect();
      return { x: e.clientX - r.left, y: e.clientY - r.top };
    };
    canvas.addEventListener("pointerdown", (e) => { held.set(e.pointerId, at(e)); moved = 0; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", (e) => {
      const was = held.get(e.pointerId);
      if (!was) return;
      const now = at(e);
      moved += Math.abs(now.x - was.x) + Math.abs(now.y - was.y);
      if (held.size === 2) {
        const other = [...held.entries()].find(([id]) => id !== e.pointerId)![1];
        const before = Math.hypot(was.x - other.x, was.y - other.y), after = Math.hypot(now.x - other.x, now.y - other.y);
        if (before > 0) this.zoom(after / before, (now.x + other.x) / 2, (now.y + other.y) / 2);
      } else if (moved > 4) {
        this.pan(now.x - was.x, now.y - was.y);
      }
      held.set(e.pointerId, now);
    });
    const end = (e: PointerEvent) => {
      if (held.delete(e.pointerId) && moved <= 4 && e.type === "pointerup") { const p = at(e); onTap(p.x, p.y, e); }
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); const p = at(e); this.zoom(Math.exp(-e.deltaY * 0.0015), p.x, p.y); }, { passive: false });
  }
}
