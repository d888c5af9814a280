# mypy: ignore-errors

from __future__ import annotations

import numpy as np
from numba import get_num_threads, prange

from .compiled import inline, kernel


@kernel
def nbody(bodies, velocities, moved, time_step, softening_squared):
    for i in prange(len(bodies)):
        ax = ay = az = np.float32(0)
        for j in range(len(bodies)):
            x, y, z = bodies[j, 0] - bodies[i, 0], bodies[j, 1] - bodies[i, 1], bodies[j, 2] - bodies[i, 2]
            squared = x * x + y * y + z * z + softening_squared
            strength = bodies[j, 3] / (squared * np.sqrt(squared))
            ax += strength * x
            ay += strength * y
            az += strength * z
        velocities[i, 0] += time_step * ax
        velocities[i, 1] += time_step * ay
        velocities[i, 2] += time_step * az
        velocities[i, 3] = 0
        for axis in range(3):
            moved[i, axis] = bodies[i, axis] + time_step * velocities[i, axis]
        moved[i, 3] = bodies[i, 3]


@kernel
def kmeans_assign(pixels, colours, labels, totals):
    threads = get_num_threads()
    mine = np.zeros((threads, 16, 4), np.uint32)
    for thread in prange(threads):
        for i in range(len(pixels) * thread // threads, len(pixels) * (thread + 1) // threads):
            pixel = np.int64(pixels[i])
            red, green, blue = pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255
            nearest, least = 0, np.float32(3.4e38)
            for c in range(16):
                r = np.float32(red) - colours[c, 0]
                g = np.float32(green) - colours[c, 1]
                b = np.float32(blue) - colours[c, 2]
                distance = r * r + g * g + b * b
                if distance < least:
                    nearest, least = c, distance
            labels[i] = nearest
            mine[thread, nearest, 0] += red
            mine[thread, nearest, 1] += green
            mine[thread, nearest, 2] += blue
            mine[thread, nearest, 3] += 1
    for thread in range(threads):
        totals += mine[thread]


@kernel
def kmeans_update(points, labels, partial_sums):
    for part in prange((len(points) + 1023) // 1024):
        sums = partial_sums[64 * part : 64 * (part + 1)].reshape(16, 4)
        sums[:] = 0
        for i in range(1024 * part, min(len(points), 1024 * (part + 1))):
            if labels[i] < 16:
                for coordinate in range(4):
                    sums[labels[i], coordinate] += points[i, coordinate]


@kernel
def boids_all(boids, moved, time_step, sight, closest, near, cohesion, separation, alignment, top_speed):
    for i in prange(len(boids)):
        x, y = boids[i].position[0], boids[i].position[1]
        vx, vy = boids[i].velocity[0], boids[i].velocity[1]
        cx = cy = ax = ay = hx = hy = np.float32(0)
        in_sight = neighbours = 0
        for j in range(len(boids)):
            if j == i:
                continue
            dx, dy = boids[j].position[0] - x, boids[j].position[1] - y
            squared = dx * dx + dy * dy
            if squared < sight * sight:
                cx += boids[j].position[0]
                cy += boids[j].position[1]
                in_sight += 1
            if squared < closest * closest:
                ax -= dx
                ay -= dy
            if squared < near * near:
                hx += boids[j].velocity[0]
                hy += boids[j].velocity[1]
                neighbours += 1
        if in_sight > 0:
            vx += (cx / np.float32(in_sight) - x) * cohesion
            vy += (cy / np.float32(in_sight) - y) * cohesion
        vx += ax * separation
        vy += ay * separation
        if neighbours > 0:
            vx += hx / np.float32(neighbours) * alignment
            vy += hy / np.float32(neighbours) * alignment
        speed = np.sqrt(vx * vx + vy * vy)
        if speed > top_speed:
            vx *= top_speed / speed
            vy *= top_speed / speed
        moved[i].position[0], moved[i].position[1] = x + vx * time_step, y + vy * time_step
        moved[i].velocity[0], moved[i].velocity[1] = vx, vy


@kernel
def boids_grid(boids, cells, starts, moved, grid, cell, sight, closest, cohesion, separation, alignment, time_step):
    across, down = np.int64(grid[0]), np.int64(grid[1])
    for i in prange(len(boids)):
        x, y = boids[i].position[0], boids[i].position[1]
        vx, vy = boids[i].velocity[0], boids[i].velocity[1]
        column, row = cells[i] % across, cells[i] // across
        ox = oy = hx = hy = px = py = seen = np.float32(0)
        for v in range(max(row - 1, 0), min(row + 2, down)):
            for u in range(max(column - 1, 0), min(column + 2, across)):
                corner_x, corner_y = np.float32(u - column) * cell, np.float32(v - row) * cell
                for j in range(starts[v * across + u], starts[v * across + u + 1]):
                    dx, dy = corner_x + boids[j].position[0] - x, corner_y + boids[j].position[1] - y
                    squared = dx * dx + dy * dy
                    if j == i or squared >= sight * sight:
                        continue
                    ox += dx
                    oy += dy
                    hx += boids[j].velocity[0]
                    hy += boids[j].velocity[1]
                    seen += np.float32(1)
                    if squared < closest * closest:
                        px -= dx
                        py -= dy
        steered_x, steered_y = vx + separation * px, vy + separation * py
        if seen > 0:
            steered_x += cohesion * (ox / seen) + alignment * (hx / seen - vx)
            steered_y += cohesion * (oy / seen) + alignment * (hy / seen - vy)
        moved[i].position[0], moved[i].position[1] = x + time_step * steered_x, y + time_step * steered_y
        moved[i].velocity[0], moved[i].velocity[1] = steered_x, steered_y


@inline
def draw(states, i):
    state = np.uint32(states[i] * np.uint32(747796405) + np.uint32(2891336453))
    states[i] = state
    word = np.uint32((state >> ((state >> np.uint32(28)) + np.uint32(4)) ^ state) * np.uint32(277803737))
    return np.float32(np.uint32(word >> np.uint32(22) ^ word) >> np.uint32(8)) * np.float32(2.0**-24)


@inline
def meets(sphere, x, y, z, dx, dy, dz):
    wx, wy, wz = sphere.centre[0] - x, sphere.centre[1] - y, sphere.centre[2] - z
    along = wx * dx + wy * dy + wz * dz
    discriminant = along * along - (wx * wx + wy * wy + wz * wz) + sphere.radius * sphere.radius
    if discriminant < 0:
        return np.float32(1e30)
    half_chord = np.sqrt(discriminant)
    if along - half_chord > np.float32(1e-3):
        return along - half_chord
    return along + half_chord if along + half_chord > np.float32(1e-3) else np.float32(1e30)


@inline
def trace(spheres, states, row, x, y, z, dx, dy, dz):
    red = green = blue = np.float32(1)
    half, one = np.float32(0.5), np.float32(1)
    for _ in range(4):
        distance, hit = np.float32(1e30), 0
        for i in range(len(spheres)):
            d = meets(spheres[i], x, y, z, dx, dy, dz)
            if d < distance:
                distance, hit = d, i
        if distance == np.float32(1e30):
            share = half * dy + half
            return red * (one - half * share), green * (one - np.float32(0.3) * share), blue
        x, y, z = x + distance * dx, y + distance * dy, z + distance * dz
        inverse = one / spheres[hit].radius
        nx = (x - spheres[hit].centre[0]) * inverse
        ny = (y - spheres[hit].centre[1]) * inverse
        nz = (z - spheres[hit].centre[2]) * inverse
        if nx * dx + ny * dy + nz * dz > 0:
            nx, ny, nz = -nx, -ny, -nz
        red *= spheres[hit].colour[0]
        green *= spheres[hit].colour[1]
        blue *= spheres[hit].colour[2]
        px = py = pz = one
        while px * px + py * py + pz * pz > one:
            px = np.float32(2) * draw(states, row) - one
            py = np.float32(2) * draw(states, row) - one
            pz = np.float32(2) * draw(states, row) - one
        dx, dy, dz = nx + np.float32(0.9) * px, ny + np.float32(0.9) * py, nz + np.float32(0.9) * pz
        length = np.sqrt(dx * dx + dy * dy + dz * dz)
        dx, dy, dz = dx / length, dy / length, dz / length
    return np.float32(0), np.float32(0), np.float32(0)


@kernel
def path_trace(spheres, image, samples, seed, position, zoom):
    height, width = image.shape[0], image.shape[1]
    states = np.zeros(height, np.uint32)
    two = np.float32(2)
    for row in prange(height):
        for column in range(width):
            states[row] = np.uint32((row * width + column) * 9781 + seed)
            red = green = blue = np.float32(0)
            for _ in range(samples):
                u = np.float32(column) + draw(states, row)
                v = np.float32(row) + draw(states, row)
                x = (two * u - np.float32(width)) / np.float32(height)
                y = -(two * v - np.float32(height)) / np.float32(height)
                length = np.sqrt(x * x + y * y + zoom * zoom)
                light = trace(
                    spheres, states, row, position[0], position[1], position[2], x / length, y / length, zoom / length
                )
                red += light[0]
                green += light[1]
                blue += light[2]
            share = np.float32(1) / np.float32(samples)
            image[row, column, 0] = red * share
            image[row, column, 1] = green * share
            image[row, column, 2] = blue * share
            image[row, column, 3] = np.float32(1)
