-- Wireshark dissector for MRC (Multipath Reliable Connection). One file, because that is what people copy.
--
--   tshark -X lua_script:mrc.lua -r capture.pcap -V        or copy it into Wireshark's personal plugin folder
--
-- Every header field has a filter name: mrc.<header>.<field>, for example mrc.bth.psn or mrc.seth.bitmap. Fields that
-- are computed rather than carried: mrc.ev, mrc.trimmed, mrc.payload_len, mrc.seth.trigger_psn, mrc.seth.sacked.
-- What is wrong with a packet is expert information by the name of OpenMRC's verdict (mrc.bad_icrc, mrc.bad_field, ...).
-- UDP port and DSCP numbers are preferences, because deployments choose them. A RoCE packet on the same port goes to
-- Wireshark's own dissector.

local mrc = Proto("mrc", "Multipath Reliable Connection")

mrc.prefs.port = Pref.uint("UDP port", 4791, "UDP destination port of MRC")
mrc.prefs.dscp_trimmed = Pref.uint("DSCP of TRIMMED", 34, "packets that a switch cut inside the fabric")
mrc.prefs.dscp_trimmed_lasthop = Pref.uint("DSCP of TRIMMED_LASTHOP", 36, "packets that were cut on the way out to a host")
mrc.prefs.ev_port_high = Pref.bool("UDP source port holds EV[31:16]", false, "the other reading of the specification")
mrc.prefs.flags_swapped = Pref.bool("M before SE in BTH", false, "M is bit 7 and SE bit 6, instead of InfiniBand's order")
mrc.prefs.eeth_op_low = Pref.bool("EETH operation in bits 1:0", false, "instead of bits 3:2")
mrc.prefs.icrc_limit = Pref.uint("Check the iCRC of packets up to this many bytes", 512,
                                 "Lua is slow: 4 KiB take a millisecond. 0: never, 65535: always")

local opcodes = {
  [0xC6] = "WRITE First", [0xC7] = "WRITE Middle", [0xC8] = "WRITE Last", [0xC9] = "WRITE Last with Immediate",
  [0xCA] = "WRITE Only", [0xCB] = "WRITE Only with Immediate", [0xD1] = "Transport ACK",
  [0xD8] = "Endpoint Request", [0xD9] = "Endpoint Response", [0xDC] = "SACK", [0xDD] = "NACK", [0xDE] = "Probe",
}
local reasons = {
  [0x01] = "TRIMMED", [0x02] = "TRIMMED_LASTHOP", [0x06] = "NO_BITMAP", [0x07] = "NO_PKT_BUFFER",
  [0x0A] = "NO_RESOURCE", [0x0B] = "PSN_OOR_WINDOW", [0x19] = "UNEXP_EVENT",
}
local marks = { [0] = "none", [1] = "SKIP_ONCE", [2] = "ALWAYS_SKIP" }
local syndromes = {
  [0x1F] = "ACK", [0x61] = "NAK invalid request", [0x62] = "NAK remote access error",
  [0x63] = "NAK remote operational error",
}
local endpoint_ops = { [0] = "Port Status Update", [1] = "EV Probe" }
local cc_types = { [0] = "NSCC", [2] = "NACK timestamp" }
local ticks = { [0] = "128 ns" }

-- A header is its size and its fields: {name, title, ProtoField type, offset, bytes, base, values, mask}.
-- ProtoField.bool takes the width in bits where the others take the base; `flag` hides that.
local function u(name, title, offset, bytes, base_, values, mask)
  return { name, title, "uint" .. 8 * bytes, offset, bytes, base_ or base.DEC, values, mask }
end
local function s16(name, title, offset) return { name, title, "int16", offset, 2, base.DEC } end
local function flag(name, title, offset, bytes, mask)
  return { name, title, "bool", offset, bytes, 8 * bytes, nil, mask }
end
-- Where readings of the specification differ, a preference says which of two fields is there.
local function unless(preference, f) f.unless = preference; return f end
local function only(preference, f) f.only = preference; return f end
local function spdcid(offset) return u("spdcid", "Requestor QPN, low 16 bits", offset, 2, base.HEX) end
local function dpdcid(offset) return u("dpdcid", "Responder QPN, low 16 bits", offset, 2, base.HEX) end
local function tsr(offset) return u("tsr", "Timestamp resolution", offset, 2, base.DEC, ticks, 0x8000) end
local function ftype(offset) return u("ftype", "Timestamp type", offset, 2, base.DEC, nil, 0x000F) end

local headers = {
  bth = { title = "Base Transport Header", size = 12,
    u("opcode", "Opcode", 0, 1, base.HEX, opcodes),
    unless("flags_swapped", flag("se", "Solicited event", 1, 1, 0x80)),
    unless("flags_swapped", flag("m", "Migration", 1, 1, 0x40)),
    only("flags_swapped", flag("m", "Migration", 1, 1, 0x80)),
    only("flags_swapped", flag("se", "Solicited event", 1, 1, 0x40)),
    u("padcnt", "Pad count", 1, 1, base.DEC, nil, 0x30), u("tver", "Transport version", 1, 1, base.DEC, nil, 0x0F),
    u("pkey", "Partition key", 2, 2, base.HEX), u("reserved", "Reserved", 4, 1, base.HEX),
    u("destqp", "Destination QP", 5, 3, base.HEX),
    flag("a", "Acknowledge request", 8, 1, 0x80), flag("r", "Reserved R", 8, 1, 0x40),
    flag("rtx", "Retransmission", 8, 1, 0x20), flag("ts", "TSETH follows", 8, 1, 0x10),
    u("reserved8", "Reserved", 8, 1, base.HEX, nil, 0x0F), u("psn", "PSN", 9, 3) },
  meth = { title = "Message Header", size = 4, of_write = true,
    u("rqmsn", "RQMSN", 0, 2), u("msn", "MSN", 2, 2) },
  tseth = { title = "Timestamp Header", size = 4, of_write = true,
    u("timestamp", "Transmit timestamp", 0, 2), tsr(2), ftype(2) },
  reth = { title = "RDMA Header", size = 16, of_write = true,
    u("va", "Virtual address", 0, 8, base.HEX), u("rkey", "R_Key", 8, 4, base.HEX),
    u("dmalen", "DMA length of the message", 12, 4) },
  immdt = { title = "Immediate Data", size = 4, of_write = true, u("data", "Immediate", 0, 4, base.HEX) },
  aeth = { title = "ACK Header", size = 4,
    u("syndrome", "Syndrome", 0, 1, base.HEX, syndromes), u("msn", "MSN", 1, 3) },
  seth = { title = "Selective ACK Header", size = 28,
    u("type", "Type", 0, 2, base.DEC, nil, 0xF000), u("next", "Next", 0, 2, base.DEC, nil, 0x0F80),
    u("m", "Mark for the EV", 0, 2, base.DEC, marks, 0x0060), flag("pr", "Probe reply", 0, 2, 0x0002),
    s16("ack_psn_offset", "Offset of the triggering PSN, or probe id", 2),
    u("entropy", "EV of the triggering packet", 4, 4, base.HEX),
    spdcid(8), dpdcid(10),
    u("reserved", "Reserved", 12, 1, base.HEX), u("cack_psn", "Cumulative PSN", 13, 3),
    u("cc_type", "Congestion control type", 16, 1, base.DEC, cc_types, 0xF0),
    u("cc_fl", "Congestion control flags", 16, 1, base.HEX, nil, 0x0F),
    u("mpr", "MPR, units of 128 PSNs", 17, 1), s16("sack_offset", "Offset of the bitmap", 18),
    u("bitmap", "Bitmap", 20, 8, base.HEX) },
  ccstate = { title = "Congestion Control State", size = 8,
    u("timestamp", "Echoed timestamp", 0, 2), u("ooo_count", "Out-of-order count", 2, 2, base.DEC, nil, 0x7FFF),
    flag("restore_cwnd", "Restore window", 4, 1, 0x80),
    u("rcv_cwnd_pen", "Receiver penalty", 4, 1, base.DEC, nil, 0x7F),
    u("rcvd_bytes", "Received bytes, units of 256", 5, 3) },
  neth = { title = "Negative ACK Header", size = 20,
    u("type", "Type", 0, 2, base.HEX), u("reason", "Reason", 2, 1, base.HEX, reasons),
    u("vendor", "Vendor info", 3, 1, base.HEX), u("entropy", "EV of the packet", 4, 4, base.HEX),
    spdcid(8), dpdcid(10),
    u("reserved", "Reserved", 12, 1, base.HEX), u("nack_psn", "PSN", 13, 3),
    u("cc_type", "Congestion control type", 16, 1, base.DEC, cc_types, 0xF0),
    u("timestamp", "Echoed timestamp", 18, 2) },
  peth = { title = "Probe Header", size = 16,
    u("type", "Type", 0, 2, base.HEX), u("vendor", "Vendor info", 3, 1, base.HEX), u("probe_id", "Probe id", 4, 2),
    spdcid(8), dpdcid(10),
    u("timestamp", "Transmit timestamp", 12, 2), tsr(14), ftype(14) },
  erth = { title = "Endpoint Request Header", size = 16,
    u("op", "Operation", 0, 2, base.DEC, endpoint_ops, 0x0003), u("vendor", "Vendor info", 3, 1, base.HEX),
    u("port_status_mask", "Ports that are up", 4, 4, base.HEX),
    u("timestamp", "Transmit timestamp", 12, 2), tsr(14), ftype(14) },
  eeth = { title = "Endpoint Response Header", size = 36,
    unless("eeth_op_low", u("op", "Operation", 0, 2, base.DEC, endpoint_ops, 0x000C)),
    only("eeth_op_low", u("op", "Operation", 0, 2, base.DEC, endpoint_ops, 0x0003)),
    u("timestamp", "Echoed timestamp", 28, 2) },
}
local after_bth = {
  [0xD1] = { "aeth" }, [0xD8] = { "erth" }, [0xD9] = { "eeth" }, [0xDC] = { "seth", "ccstate" },
  [0xDD] = { "neth" }, [0xDE] = { "peth" },
}

local fields = {}
for header, layout in pairs(headers) do
  for _, f in ipairs(layout) do
    local name, title, kind, _, _, base_, values, mask = table.unpack(f, 1, 8)
    f.shown_as = ProtoField[kind]("mrc." .. header .. "." .. name, title, base_, values, mask)
    fields[#fields + 1] = f.shown_as
  end
end
local computed = {
  ev = ProtoField.uint32("mrc.ev", "EV", base.HEX), trimmed = ProtoField.bool("mrc.trimmed", "Trimmed"),
  lasthop = ProtoField.bool("mrc.trimmed_lasthop", "Trimmed on the last hop"),
  payload = ProtoField.bytes("mrc.payload", "Payload"), payload_len = ProtoField.uint32("mrc.payload_len", "Payload length"),
  pad = ProtoField.bytes("mrc.pad", "Padding"), icrc = ProtoField.uint32("mrc.icrc", "Invariant CRC", base.HEX),
  icrc_good = ProtoField.bool("mrc.icrc.good", "Invariant CRC is right"),
  trigger = ProtoField.uint24("mrc.seth.trigger_psn", "PSN that triggered this SACK"),
  probe_id = ProtoField.uint16("mrc.seth.probe_id", "Probe that this answers"),
  sacked = ProtoField.string("mrc.seth.sacked", "PSNs that arrived"),
}
local all = {}
for _, group in ipairs({ fields, computed }) do
  for _, field in pairs(group) do all[#all + 1] = field end
end
mrc.fields = all


local notes = {}
for name, n in pairs({
  too_short = { "Fewer bytes than the headers need", "MALFORMED", "ERROR" },
  trimmed_too_short = { "Trimmed below the headers that name its PSN", "MALFORMED", "ERROR" },
  unknown_opcode = { "Opcode is not an MRC opcode", "MALFORMED", "ERROR" },
  bad_tver = { "Transport version is not 0", "MALFORMED", "ERROR" },
  bad_pad = { "Pad count does not fit the opcode or the payload", "MALFORMED", "ERROR" },
  bad_field = { "A field holds a value that its type forbids", "MALFORMED", "ERROR" },
  bad_icrc = { "Invariant CRC is wrong", "CHECKSUM", "ERROR" },
  length_mismatch = { "Lengths do not add up", "MALFORMED", "ERROR" },
  trimmed = { "Trimmed by a switch", "SEQUENCE", "NOTE" },
  retransmission = { "Retransmission", "SEQUENCE", "NOTE" },
  refused = { "NACK or NAK", "RESPONSE_CODE", "WARN" },
}) do
  local remark = n[3] ~= "ERROR" and "note." or ""  -- errors have the name of the verdict in OpenMRC
  notes[name] = ProtoExpert.new("mrc." .. remark .. name, n[1], expert.group[n[2]], expert.severity[n[3]])
end
mrc.experts = notes

-- What the network around the packet says. Outer headers come first in each list.
local ip4_dscp, ip6_dscp = Field.new("ip.dsfield.dscp"), Field.new("ipv6.tclass.dscp")
local flow_label, ip4_header, ip6_header = Field.new("ipv6.flow"), Field.new("ip"), Field.new("ipv6")
local udp_header = Field.new("udp")

local function last(...) return (select(select("#", ...), ...)) end

local function trim_class()
  for _, list in ipairs({ { ip6_dscp() }, { ip4_dscp() } }) do
    for _, info in ipairs(list) do
      if info.value == mrc.prefs.dscp_trimmed then return "trimmed" end
      if info.value == mrc.prefs.dscp_trimmed_lasthop then return "lasthop" end
    end
  end
end

-- The EV: UDP source port, and over IPv6 the low 16 bits of the (inner) flow label.
local function entropy(pinfo)
  local label = flow_label() and last(flow_label()).value % 0x10000 or nil
  if not label then return pinfo.src_port end
  if mrc.prefs.ev_port_high then return pinfo.src_port * 0x10000 + label end
  return label * 0x10000 + pinfo.src_port
end

local Walk = {}  -- one packet being dissected: what is left, where to show it, what was read
Walk.__index = Walk

function Walk:complain(note, item) (item or self.tree):add_proto_expert_info(notes[note]) end

-- Shows one header and reads its fields into self.values; false when the bytes end before it does.
function Walk:header(name)
  local layout = headers[name]
  if self.at + layout.size > self.stop or self.at + layout.size > self.tvb:captured_len() then
    -- A trimmed write is good as far as its PSN; anything else needs all of its headers.
    local enough = self.trimmed and self.at > 0 and layout.of_write
    if self.at + layout.size > self.stop and not enough then
      self:complain(self.trimmed and "trimmed_too_short" or "too_short")
    end
    return false
  end
  local branch = self.tree:add(self.tvb(self.at, layout.size), layout.title)
  for _, f in ipairs(layout) do self:field(branch, name, f) end
  self.at = self.at + layout.size
  return true
end

function Walk:field(branch, header, f)
  if (f.unless and mrc.prefs[f.unless]) or (f.only and not mrc.prefs[f.only]) then return end
  local range = self.tvb(self.at + f[4], f[5])
  self.values[header .. "." .. f[1]] = range
  self.masks[header .. "." .. f[1]] = f[8]
  self.items[header .. "." .. f[1]] = branch:add(f.shown_as, range)
end

-- The value of a field of up to 4 bytes, its mask applied; nil when its header is not there.
function Walk:number(name)
  local range, mask = self.values[name], self.masks[name]
  if not range then return nil end
  if not mask then return range:uint() end
  local low = 0
  while bit.band(bit.rshift(mask, low), 1) == 0 do low = low + 1 end
  return bit.rshift(bit.band(range:uint(), mask), low)
end

function Walk:write_headers(opcode)
  local ok = self:header("meth")
  if ok and self:number("bth.ts") == 1 then ok = self:header("tseth") end
  ok = ok and self:header("reth")
  if ok and (opcode == 0xC9 or opcode == 0xCB) then ok = self:header("immdt") end
  return ok
end

function Walk:payload(opcode)
  local pad = self:number("bth.padcnt")
  local rest = self.stop - self.at
  local length = rest - (self.trimmed and 0 or pad)
  local may_pad = opcode ~= 0xC6 and opcode ~= 0xC7  -- only what ends a message
  if not self.trimmed and (length < 0 or rest % 4 ~= 0 or (pad > 0 and not may_pad)) then
    self:complain("bad_pad", self.items["bth.padcnt"])
  end
  if length < 0 then return end
  self.payload_len = length
  self.tree:add(computed.payload_len, length):set_generated()
  local captured = math.max(0, math.min(length, self.tvb:captured_len() - self.at))
  if captured > 0 then self.tree:add(computed.payload, self.tvb(self.at, captured)) end
  if not self.trimmed and pad > 0 and self.stop <= self.tvb:captured_len() then
    self.tree:add(computed.pad, self.tvb(self.stop - pad, pad))
  end
end

local function list_sacked(cack, offset, bitmap)
  local ranges, from = {}, nil
  for i = 0, 64 do
    local set = i < 64 and bitmap:bitfield(63 - i, 1) == 1
    if set and not from then from = i end
    if not set and from then
      local low, high = (cack + offset + from) % 0x1000000, (cack + offset + i - 1) % 0x1000000
      ranges[#ranges + 1] = low == high and tostring(low) or (low .. "-" .. high)
      from = nil
    end
  end
  return #ranges > 0 and table.concat(ranges, " ") or "none beyond the cumulative PSN"
end

function Walk:sack_story()
  local cack, offset = self:number("seth.cack_psn"), self.values["seth.sack_offset"]:int()
  local bitmap, trigger = self.values["seth.bitmap"], self.values["seth.ack_psn_offset"]
  if self:number("seth.pr") == 1 then
    self.tree:add(computed.probe_id, trigger, trigger:uint()):set_generated()
  else
    self.tree:add(computed.trigger, trigger, (cack + trigger:int()) % 0x1000000):set_generated()
  end
  self.sacked = list_sacked(cack, offset, bitmap)
  self.tree:add(computed.sacked, bitmap, self.sacked):set_generated()
end

-- Fields with one permitted value, and those whose values are listed.
local fixed = {
  ["bth.tver"] = 0, ["tseth.tsr"] = 0, ["tseth.ftype"] = 1, ["peth.tsr"] = 0, ["peth.ftype"] = 1, ["erth.tsr"] = 0,
  ["erth.ftype"] = 1, ["seth.type"] = 0, ["seth.next"] = 0, ["seth.cc_type"] = 0,
}
local listed = { ["seth.m"] = marks, ["neth.reason"] = reasons, ["erth.op"] = endpoint_ops, ["eeth.op"] = endpoint_ops }

local function is_ack(syndrome) return syndrome < 0x20 end  -- the rest of it counts credits, which MRC has not

-- Values that the specification forbids; the packet stays readable.
function Walk:check_values(opcode)
  local function forbid(name, bad)
    if bad then self:complain(name == "bth.tver" and "bad_tver" or "bad_field", self.items[name]) end
  end
  for name, value in pairs(fixed) do forbid(name, self.values[name] and self:number(name) ~= value) end
  for name, values in pairs(listed) do forbid(name, self.values[name] and not values[self:number(name)]) end
  local syndrome, psn = self:number("aeth.syndrome"), self:number("bth.psn")
  forbid("aeth.syndrome", syndrome and not is_ack(syndrome) and not syndromes[syndrome])
  for _, name in ipairs({ "seth.cack_psn", "neth.nack_psn" }) do forbid(name, (self:number(name) or psn) ~= psn) end
  forbid("bth.destqp", (opcode == 0xD8 or opcode == 0xD9) and self:number("bth.destqp") ~= 2)
  if opcode > 0xCB and self:number("bth.padcnt") ~= 0 then self:complain("bad_pad", self.items["bth.padcnt"]) end
end

function Walk:remarks()
  if self:number("bth.rtx") == 1 then self:complain("retransmission", self.items["bth.rtx"]) end
  if self.values["neth.reason"] then self:complain("refused", self.items["neth.reason"]) end
  local syndrome = self:number("aeth.syndrome")
  if syndrome and not is_ack(syndrome) then self:complain("refused", self.items["aeth.syndrome"]) end
end

-- The InfiniBand invariant CRC: CRC-32 over 8 bytes of ones, then the packet with the fields that change on the way set
-- to ones. Needs the whole packet.
local crc_table = {}
local bxor, band, rshift, bnot = bit.bxor, bit.band, bit.rshift, bit.bnot
for i = 0, 255 do
  local c = i
  for _ = 1, 8 do c = band(c, 1) == 1 and bxor(0xEDB88320, rshift(c, 1)) or rshift(c, 1) end
  crc_table[i] = c
end

local function crc_of(crc, bytes, masked)
  for i = 1, #bytes do
    local byte = masked[i - 1] or bytes:byte(i)
    crc = bxor(crc_table[band(bxor(crc, byte), 0xFF)], rshift(crc, 8))
  end
  return crc
end

-- What counts instead of the byte at an offset. IPv4: TOS, TTL, checksum. IPv6: traffic class, flow label (beside the
-- version), hop limit. UDP: checksum. BTH: the reserved byte.
local ones4 = { [1] = 0xFF, [8] = 0xFF, [10] = 0xFF, [11] = 0xFF }
local ones6 = { [0] = 0x6F, [1] = 0xFF, [2] = 0xFF, [3] = 0xFF, [7] = 0xFF }
local ones_udp, ones_bth = { [6] = 0xFF, [7] = 0xFF }, { [4] = 0xFF }

local function computed_icrc(payload)
  local v6, v4 = { ip6_header() }, { ip4_header() }
  local inner, ones = v6[#v6], ones6
  if not inner or (v4[#v4] and v4[#v4].offset > inner.offset) then inner, ones = v4[#v4], ones4 end
  local udp = { udp_header() }
  if not inner or #udp == 0 then return nil end
  local ip = inner.range:bytes():raw():sub(1, ones == ones6 and 40 or -1)
  local crc = crc_of(0xFFFFFFFF, ("\255"):rep(8), {})
  crc = crc_of(crc, ip, ones)
  crc = crc_of(crc, udp[#udp].range:bytes():raw():sub(1, 8), ones_udp)
  crc = bnot(crc_of(crc, payload, ones_bth))
  return crc % 0x100000000
end

function Walk:icrc()
  if self.trimmed or self.stop + 4 > self.tvb:captured_len() then return end
  local range = self.tvb(self.stop, 4)
  local item = self.tree:add(computed.icrc, range)
  if self.stop > mrc.prefs.icrc_limit then return end
  local want = computed_icrc(self.tvb(0, self.stop):bytes():raw())
  if not want then return end
  local good = want == range:le_uint() % 0x100000000
  item:add(computed.icrc_good, range, good):set_generated()
  if not good then self:complain("bad_icrc", item) end
end

function Walk:info(opcode, ev)
  local parts = { string.format("%s QP=0x%x PSN=%d EV=0x%x", opcodes[opcode], self:number("bth.destqp"),
                                self:number("bth.psn"), ev) }
  local function say(...) parts[#parts + 1] = string.format(...) end
  if self.values["meth.msn"] then say("MSN=%d", self:number("meth.msn")) end
  if self.payload_len then say("Len=%d", self.payload_len) end
  if self.sacked then say("sacked %s", self.sacked) end
  if self.values["seth.m"] then
    local mark = self:number("seth.m")
    if mark ~= 0 then say("%s for EV 0x%x", marks[mark] or "mark 3", self:number("seth.entropy")) end
  end
  if self.values["neth.reason"] then say("%s", reasons[self:number("neth.reason")] or "unknown reason") end
  local syndrome = self:number("aeth.syndrome")
  if syndrome then say("%s", is_ack(syndrome) and "ACK" or syndromes[syndrome] or "unknown syndrome") end
  if self:number("bth.rtx") == 1 then say("[retransmission]") end
  if self.trimmed then say("[%s]", self.trimmed) end
  return table.concat(parts, " ")
end

function Walk:body(opcode)
  local chain = after_bth[opcode]
  if not chain then
    if self:write_headers(opcode) then self:payload(opcode) end
    return
  end
  for _, name in ipairs(chain) do
    if not self:header(name) then return end
  end
  if self.values["seth.bitmap"] then self:sack_story() end
  if self.at ~= self.stop and not self.trimmed then self:complain("length_mismatch") end
end

local roce = DissectorTable.get("udp.port"):get_dissector(4791)

-- MRC's opcodes have the top bits 110; anything else on the port is RoCE's, if Wireshark knows it.
local function is_foreign(tvb) return tvb:captured_len() > 0 and tvb(0, 1):bitfield(0, 3) ~= 6 end

function mrc.dissector(tvb, pinfo, root)
  if is_foreign(tvb) then return roce and roce:call(tvb, pinfo, root) or 0 end
  pinfo.cols.protocol = "MRC"
  local trimmed, ev = trim_class(), entropy(pinfo)
  local tree = root:add(mrc, tvb())
  local walk = setmetatable({ tvb = tvb, tree = tree, at = 0, values = {}, masks = {}, items = {}, trimmed = trimmed,
                              stop = tvb:reported_len() - (trimmed and 0 or 4) }, Walk)
  tree:add(computed.ev, ev):set_generated()
  if trimmed then
    tree:add(computed.trimmed, true):set_generated()
    tree:add(computed.lasthop, trimmed == "lasthop"):set_generated()
    walk:complain("trimmed")
  end
  if not walk:header("bth") then
    pinfo.cols.info = "MRC, cut before its transport header ends"
    return tvb:captured_len()
  end
  local opcode = walk:number("bth.opcode")
  if not opcodes[opcode] then
    walk:complain("unknown_opcode", walk.items["bth.opcode"])
    pinfo.cols.info = string.format("Unknown MRC opcode 0x%02x", opcode)
    return tvb:captured_len()
  end
  walk:body(opcode)
  walk:check_values(opcode)
  walk:remarks()
  walk:icrc()
  pinfo.cols.info = walk:info(opcode, ev)
  tree:append_text(", " .. walk:info(opcode, ev))
  return tvb:captured_len()
end

-- The EV is the UDP source port, so it may be any number: 53, say. Wireshark asks the dissector of the lower port first
-- and would call that packet DNS. Ours stands in for it while UDP dissects a packet to MRC's port.
local any_port = Proto("mrc_any_port", "MRC with any UDP source port")
local udp_ports, ip_protocols = DissectorTable.get("udp.port"), DissectorTable.get("ip.proto")
local udp = ip_protocols:get_dissector(17)

function any_port.dissector(tvb, pinfo, tree)
  local to_mrc = tvb:captured_len() >= 4 and tvb(2, 2):uint() == mrc.prefs.port
  local source = to_mrc and tvb(0, 2):uint()
  local usual = source and source < mrc.prefs.port and udp_ports:get_dissector(source)
  if not usual then return udp:call(tvb, pinfo, tree) end
  udp_ports:add(source, mrc)
  local ok, result = pcall(udp.call, udp, tvb, pinfo, tree)
  udp_ports:add(source, usual)
  if not ok then error(result, 0) end
  return result
end
if udp then ip_protocols:add(17, any_port) end

local bound = nil
local function bind()
  if bound == mrc.prefs.port then return end
  if bound then udp_ports:remove(bound, mrc) end
  bound = mrc.prefs.port
  udp_ports:add(bound, mrc)
end
mrc.prefs_changed = bind  -- write-only in Wireshark's API
bind()
