package uverbs

import "github.com/purerdma/rdma/abi"

// Methods of memory regions, memory windows and hints for DMA.

var methodMRDestroy = method{
	name: "MR_DESTROY", object: uint16(abi.UVERBS_OBJECT_MR), id: uint16(abi.UVERBS_METHOD_MR_DESTROY),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_DESTROY_MR_HANDLE), name: "HANDLE", kind: kindObject}},
}

var methodRegMR = method{
	name: "REG_MR", object: uint16(abi.UVERBS_OBJECT_MR), id: uint16(abi.UVERBS_METHOD_REG_MR), uhw: true,
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_REG_MR_HANDLE), name: "HANDLE", kind: kindNewObject},
		{id: uint16(abi.UVERBS_ATTR_REG_MR_PD_HANDLE), name: "PD_HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_REG_MR_DMA_HANDLE), name: "DMA_HANDLE", kind: kindObject, opt: true},
		{id: uint16(abi.UVERBS_ATTR_REG_MR_IOVA), name: "IOVA", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_REG_MR_ADDR), name: "ADDR", kind: kindU64, opt: true},
		{id: uint16(abi.UVERBS_ATTR_REG_MR_LENGTH), name: "LENGTH", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_REG_MR_ACCESS_FLAGS), name: "ACCESS_FLAGS", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_REG_MR_FD), name: "FD", kind: kindFD, opt: true},
		{id: uint16(abi.UVERBS_ATTR_REG_MR_FD_OFFSET), name: "FD_OFFSET", kind: kindU64, opt: true},
		{id: uint16(abi.UVERBS_ATTR_REG_MR_RESP_LKEY), name: "RESP_LKEY", kind: kindOut, size: 4},
		{id: uint16(abi.UVERBS_ATTR_REG_MR_RESP_RKEY), name: "RESP_RKEY", kind: kindOut, size: 4},
	},
}

var methodDMAHAlloc = method{
	name: "DMAH_ALLOC", object: uint16(abi.UVERBS_OBJECT_DMAH), id: uint16(abi.UVERBS_METHOD_DMAH_ALLOC),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_ALLOC_DMAH_HANDLE), name: "HANDLE", kind: kindNewObject},
		{id: uint16(abi.UVERBS_ATTR_ALLOC_DMAH_CPU_ID), name: "CPU_ID", kind: kindU32, opt: true},
		{id: uint16(abi.UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE), name: "TPH_MEM_TYPE", kind: kindChoice, opt: true},
		{id: uint16(abi.UVERBS_ATTR_ALLOC_DMAH_PH), name: "PH", kind: kindIn, size: 1, opt: true},
	},
}

var methodDMAHFree = method{
	name: "DMAH_FREE", object: uint16(abi.UVERBS_OBJECT_DMAH), id: uint16(abi.UVERBS_METHOD_DMAH_FREE),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_FREE_DMA_HANDLE), name: "HANDLE", kind: kindObject}},
}

var methodRegDMABufMR = method{
	name: "REG_DMABUF_MR", object: uint16(abi.UVERBS_OBJECT_MR), id: uint16(abi.UVERBS_METHOD_REG_DMABUF_MR),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_HANDLE), name: "HANDLE", kind: kindNewObject},
		{id: uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE), name: "PD_HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_OFFSET), name: "OFFSET", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_LENGTH), name: "LENGTH", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_IOVA), name: "IOVA", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_FD), name: "FD", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS), name: "ACCESS_FLAGS", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY), name: "RESP_LKEY", kind: kindOut, size: 4},
		{id: uint16(abi.UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY), name: "RESP_RKEY", kind: kindOut, size: 4},
	},
}

var methodAdviseMR = method{
	name: "ADVISE_MR", object: uint16(abi.UVERBS_OBJECT_MR), id: uint16(abi.UVERBS_METHOD_ADVISE_MR),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_ADVISE_MR_PD_HANDLE), name: "PD_HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_ADVISE_MR_ADVICE), name: "ADVICE", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_ADVISE_MR_FLAGS), name: "FLAGS", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_ADVISE_MR_SGE_LIST), name: "SGE_LIST", kind: kindIn},
	},
}

var methodQueryMR = method{
	name: "QUERY_MR", object: uint16(abi.UVERBS_OBJECT_MR), id: uint16(abi.UVERBS_METHOD_QUERY_MR),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_QUERY_MR_HANDLE), name: "HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_QUERY_MR_RESP_LKEY), name: "RESP_LKEY", kind: kindOut, size: 4},
		{id: uint16(abi.UVERBS_ATTR_QUERY_MR_RESP_RKEY), name: "RESP_RKEY", kind: kindOut, size: 4},
		{id: uint16(abi.UVERBS_ATTR_QUERY_MR_RESP_LENGTH), name: "RESP_LENGTH", kind: kindOut, size: 8},
		{id: uint16(abi.UVERBS_ATTR_QUERY_MR_RESP_IOVA), name: "RESP_IOVA", kind: kindOut, size: 8, opt: true},
	},
}

var methodMWDestroy = method{
	name: "MW_DESTROY", object: uint16(abi.UVERBS_OBJECT_MW), id: uint16(abi.UVERBS_METHOD_MW_DESTROY),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_DESTROY_MW_HANDLE), name: "HANDLE", kind: kindObject}},
}
